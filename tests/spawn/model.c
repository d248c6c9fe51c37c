/* Random commands, with descriptors of every kind among few numbers, against a model. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

enum { LOW = 13, NONE = -1 };
enum kind { AS_IT_IS, FROM, OPENED, MEMORY, PIPE, SAME, KINDS };

/* The caller's descriptors. */
static struct {
    bool open;
    int flags;
    struct stat file;
} ours[LOW];

/* The command. */
static struct {
    enum kind kind;
    int from; /* FROM: ours; SAME: the child's */
} asked[LOW];
static bool inherits;
static int program; /* a descriptor of ours, or NONE */

static struct seen seen;
static char folder[] = "/tmp/spawn-test-XXXXXX";

static bool likely(int percent) {
    return rand() % 100 < percent;
}

/* ---- the caller and the command, at random ---- */

static void put_at(int file, int fd) {
    if (file != fd) {
        CHECK_EQ(dup3(file, fd, O_CLOEXEC), fd);
        close(file);
    }
}

static void shuffle_ours(void) {
    int closed = rand() % 3 * 20;
    program = likely(25) ? rand() % LOW : NONE;
    for (int fd = 0; fd < LOW; fd++)
        if (fd == program)
            put_at(open(PROBE, likely(50) ? O_RDONLY : O_PATH), fd);
        else
            put_at(memfd_create("ours", 0), fd);
    for (int fd = 0; fd < LOW; fd++)
        if (likely(fd == program ? 10 : closed))
            close(fd);
        else
            CHECK_EQ(fcntl(fd, F_SETFD, likely(50) ? FD_CLOEXEC : 0), 0);
    for (int fd = 0; fd < LOW; fd++) {
        ours[fd].flags = fcntl(fd, F_GETFD);
        ours[fd].open = fstat(fd, &ours[fd].file) == 0;
    }
}

/* Where it leads by one `same` or several. */
static int origin(int fd) {
    while (fd < LOW && asked[fd].kind == SAME)
        fd = asked[fd].from;
    return fd;
}

static void shuffle_command(void) {
    int pipes = 0;
    memset(asked, 0, sizeof asked);
    inherits = likely(20);
    for (int i = 0; i < LOW; i++) {
        int to = rand() % LOW;
        if (asked[to].kind != AS_IT_IS)
            continue;
        enum kind kind = (enum kind)(rand() % KINDS);
        int from = kind == SAME && !likely(5) && !inherits ? rand() % 3 : rand() % LOW;
        if (kind == SAME && origin(from) == to)
            kind = FROM;
        if (kind == PIPE && ++pipes > FORKLESS_PIPES)
            kind = MEMORY;
        asked[to].kind = kind;
        asked[to].from = from;
    }
}

static void set(forkless_command *c, int to) {
    char text[100] = "", path[64];
    switch (asked[to].kind) {
    case FROM:
        CHECK_EQ(forkless_command_fd(c, to, asked[to].from), 0);
        break;
    case OPENED:
        snprintf(path, sizeof path, "%s/%d", folder, to);
        CHECK_EQ(forkless_command_file(c, to, path, O_RDWR | O_CREAT, 0600), 0);
        break;
    case MEMORY:
        CHECK_EQ(forkless_command_memory(c, to, text, (size_t)(50 + to)), 0);
        break;
    case PIPE:
        CHECK_EQ(forkless_command_pipe(c, to, to % 2 ? FORKLESS_READS : FORKLESS_WRITES), 0);
        break;
    case SAME:
        CHECK_EQ(forkless_command_same(c, to, asked[to].from), 0);
        break;
    default:
        break;
    }
}

static void set_all(forkless_command *c) {
    if (inherits)
        CHECK_EQ(forkless_command_inherit_fds(c), 0);
    if (program >= 0)
        CHECK_EQ(forkless_command_program_fd(c, program), 0);
    for (int i = 0, first = rand(), step = 1 + rand() % (LOW - 1); i < LOW; i++)
        set(c, (first % LOW + i * step) % LOW);
}

/* ---- what is to come of it ---- */

static bool is_unset_same(int to) {
    int from = origin(to);
    return asked[to].kind == SAME && from > 2 && !inherits && asked[from].kind == AS_IT_IS;
}

/* It reads a descriptor that is not open. */
static bool is_bad(int to) {
    if (asked[to].kind == FROM)
        return !ours[asked[to].from].open;
    return asked[to].kind == SAME && asked[origin(to)].kind == AS_IT_IS && !ours[origin(to)].open;
}

static bool has_bad(void) {
    bool bad = program >= 0 && !ours[program].open;
    for (int to = 0; to < LOW; to++)
        bad |= is_bad(to) || is_unset_same(to);
    return bad;
}

static void check_error(int rc, const forkless_error *error, bool at_once) {
    bool setter = false;
    for (int to = 0; to < LOW; to++)
        setter |= is_unset_same(to);
    CHECK_EQ(rc, -EBADF);
    if (setter) {
        CHECK(at_once);
        CHECK_EQ(error->step, FORKLESS_STEP_SETTER);
        CHECK(is_unset_same(error->index));
    } else if (error->step == FORKLESS_STEP_EXEC) {
        CHECK(program >= 0 && !ours[program].open);
    } else {
        CHECK_EQ(error->step, FORKLESS_STEP_DESCRIPTOR);
        CHECK(error->index >= 0 && error->index < LOW && is_bad(error->index));
    }
}

static bool is_file(const struct seen_fd *f, const struct stat *file) {
    return f->device == file->st_dev && f->inode == file->st_ino;
}

static void check_pipe(const struct seen_fd *f, const struct seen_fd *first, int end) {
    struct stat file;
    CHECK_EQ(fstat(end, &file), 0);
    CHECK(is_file(f, &file) && is_file(first, &file));
    CHECK_EQ(f->status & O_ACCMODE, first->fd % 2 ? O_RDONLY : O_WRONLY);
}

static bool check_one(int to, const int *ends) {
    struct stat file;
    char path[64];
    const struct seen_fd *f = seen_fd(&seen, to);
    int from = origin(to);
    if (asked[from].kind == AS_IT_IS) {
        bool kept = ours[to].open && ours[to].flags == 0 && (to < 3 || inherits);
        if (to == from && !kept) {
            CHECK(!f);
            return false;
        }
        CHECK(f && is_file(f, &ours[from].file));
    } else if (asked[from].kind == FROM) {
        CHECK(f && is_file(f, &ours[asked[from].from].file));
    } else if (asked[from].kind == OPENED) {
        snprintf(path, sizeof path, "%s/%d", folder, from);
        CHECK_EQ(stat(path, &file), 0);
        CHECK(f && is_file(f, &file));
    } else if (asked[from].kind == MEMORY) {
        CHECK(f && f->size == 50 + from);
        CHECK_EQ(f->inode, seen_fd(&seen, from)->inode);
    } else {
        CHECK(f);
        check_pipe(f, seen_fd(&seen, from), ends[from]);
    }
    CHECK_EQ(f->flags, 0);
    return true;
}

static void check_child(struct show *s, forkless_child *child) {
    int ends[LOW], expected = 0;
    for (int to = 0; to < LOW; to++) {
        ends[to] = forkless_child_pipe(child, to);
        CHECK(asked[to].kind == PIPE ? ends[to] >= 3 : ends[to] == -EBADF);
    }
    show_read(s, &seen);
    for (int to = 0; to < LOW; to++)
        expected += check_one(to, ends);
    CHECK_EQ(seen.count, expected);
    for (int to = 0; to < LOW; to++)
        if (ends[to] >= 0)
            close(ends[to]);
}

static int failed, succeeded;

static void run_one(launcher *launch) {
    forkless_child *child;
    forkless_error error = {0};
    struct show s = show_new();
    shuffle_ours();
    shuffle_command();
    set_all(s.command);
    int rc = launch(s.command, &child, &error);
    bool at_once = rc < 0;
    if (!at_once)
        rc = forkless_wait(child, FORKLESS_NEVER, NULL, &error);
    if (has_bad()) {
        check_error(rc, &error, at_once);
        forkless_command_free(s.command);
        close(s.memory);
        failed++;
    } else {
        CHECK_EQ(rc, 0);
        check_child(&s, child);
        succeeded++;
    }
    forkless_child_free(child);
    for (int fd = 0; fd < LOW; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), ours[fd].flags);
    for (int fd = LOW; fd < LOW + 20; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(b02_random_commands) {
    char line[64];
    CHECK(mkdtemp(folder));
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int i = 0; i < count(4000); i++) {
        srand((unsigned)i);
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)(1 + rand() % 3)), 0);
        run_one(launchers[i % 2]);
    }
    CHECK(failed > count(4000) / 10 && succeeded > count(4000) / 4);
    check_no_child();
    snprintf(line, sizeof line, "rm -r %s", folder);
    CHECK_EQ(system(line), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b02_random_commands),
    };
    return RUN(tests);
}
