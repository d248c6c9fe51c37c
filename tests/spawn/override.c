/* What one child has differently from its command. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

typedef int with(const forkless_command *, const forkless_override *, forkless_child **,
                 forkless_error *);
static with *const launchers_with[2] = {forkless_spawn_with, forkless_start_with};

enum { LOW = 13 };

static struct seen seen;
static struct snapshot before;
static struct stat files[LOW];

static forkless_child *launched_with(with *launch, const forkless_command *c,
                                     const forkless_override *o) {
    forkless_child *child;
    forkless_error error;
    CHECK_EQ(launch(c, o, &child, &error), 0);
    return child;
}

static void show_with(struct show *s, with *launch, const forkless_override *o) {
    ends(launched_with(launch, s->command, o), FORKLESS_EXITED, 0);
    show_read(s, &seen);
}

/* At once, and leaves nothing; the command is as good as before. */
static void refused(const forkless_command *c, const forkless_override *o, int code) {
    for (int l = 0; l < 2; l++) {
        forkless_child *child = (forkless_child *)&seen;
        forkless_error error;
        snapshot_take(&before);
        CHECK_EQ(launchers_with[l](c, o, &child, &error), code);
        CHECK(child == NULL);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_ARGUMENT);
        CHECK_EQ(launchers_with[l](c, o, &child, NULL), code);
        snapshot_check(&before);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
    }
}

static void distinct_files(void) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int fd = 0; fd < LOW; fd++) {
        int file = memfd_create("file", MFD_CLOEXEC);
        if (file != fd) {
            CHECK_EQ(dup2(file, fd), fd);
            close(file);
        }
        CHECK_EQ(fcntl(fd, F_SETFD, fd > 2 ? FD_CLOEXEC : 0), 0);
        CHECK_EQ(fstat(fd, &files[fd]), 0);
    }
}

/* The child's descriptors are these of the caller's; -1: closed. */
static void check_seen(const int *want, int n) {
    int open = 0;
    for (int fd = 0; fd < n; fd++) {
        const struct seen_fd *f = seen_fd(&seen, fd);
        CHECK_EQ(f != NULL, want[fd] >= 0);
        if (!f)
            continue;
        CHECK_EQ(f->flags, 0);
        CHECK_EQ(f->inode, files[want[fd]].st_ino);
        open++;
    }
    CHECK_EQ(seen.count, open);
}

/* ---- arguments ---- */

TEST(nothing_changes_nothing) {
    const char *const none[] = {NULL};
    const forkless_override zero = {0}, empty = {.arguments = none};
    const forkless_override *const all[] = {NULL, &zero, &empty};
    for (int i = 0; i < 6; i++) {
        struct show s = show_new();
        show_with(&s, launchers_with[i % 2], all[i / 2]);
        CHECK_EQ(seen.count, 3);
        CHECK(strstr(seen.text, "\narg show\narg /proc/"));
    }
}

TEST(arguments_come_behind) {
    const char *const more[] = {"", "two words", "caf\303\251", NULL};
    for (int l = 0; l < 2; l++) {
        char *copy = strdup("copied");
        const char *copied[] = {copy, NULL};
        struct show s = show_new();
        CHECK_EQ(forkless_command_arg(s.command, "last"), 0);
        show_with(&s, launchers_with[l], &(forkless_override){.arguments = more});
        CHECK(strstr(seen.text, "\narg last\narg \narg two words\narg caf\303\251\nenv "));
        s = show_new();
        forkless_child *child =
            launched_with(launchers_with[l], s.command, &(forkless_override){.arguments = copied});
        memset(copy, 'X', 6);
        free(copy);
        ends(child, FORKLESS_EXITED, 0);
        show_read(&s, &seen);
        CHECK(seen_line(&seen, "arg copied"));
    }
}

/* Room for 16 KiB: the list of arguments and each string, in units of 16 bytes. */
TEST(sixteen_kib_of_arguments) {
    enum { LIST = 5 * 8 + 8, MOST = 16 * 1024 - LIST - 1, COUNT = (16 * 1024 - 4 * 8) / 24 };
    static char text[MOST + 2];
    const char *more[COUNT + 2] = {text, NULL};
    const forkless_override o = {.arguments = more};
    forkless_command *c = probe("exit", "0", NULL);
    const forkless_override one = {.arguments = (const char *[]){"1", NULL}};
    ends(launched_with(forkless_spawn_with, c, &one), FORKLESS_EXITED, 0); /* opens the room */
    memset(text, 'x', MOST + 1);
    refused(c, &o, -E2BIG);
    text[MOST] = '\0';
    for (int l = 0; l < 2; l++) {
        ends(launched_with(launchers_with[l], c, &o), FORKLESS_EXITED, 0);
        struct show s = show_new();
        show_with(&s, launchers_with[l], &o);
        CHECK(strstr(seen.text, text));
    }
    for (int i = 0; i < COUNT + 1; i++)
        more[i] = "x";
    more[COUNT + 1] = NULL;
    refused(c, &o, -E2BIG);
    more[COUNT] = NULL;
    for (int l = 0; l < 2; l++)
        ends(launched_with(launchers_with[l], c, &o), FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

/* ---- descriptors ---- */

TEST(maps_are_replaced_and_added) {
    distinct_files();
    const struct forkless_map maps[] = {{9, 4}, {1, 5}, {6, 6}, {0, 0}};
    const forkless_override o = {.maps = maps, .map_count = 4};
    const int want[] = {0, 5, 2, 8, -1, -1, 6, -1, -1, 4};
    for (int l = 0; l < 2; l++)
        for (int round = 0; round < 2; round++) {
            struct show s = show_new();
            CHECK_EQ(forkless_command_fd(s.command, 1, 7), 0);
            CHECK_EQ(forkless_command_fd(s.command, 3, 8), 0);
            CHECK_EQ(forkless_command_fd(s.command, 9, 9), 0);
            if (round) /* the command has its own again */
                ends(launched_with(launchers_with[l], s.command, &o), FORKLESS_EXITED, 0);
            CHECK_EQ(ftruncate(s.memory, 0), 0);
            show_with(&s, round ? forkless_spawn_with : launchers_with[l], round ? NULL : &o);
            const int own[] = {0, 7, 2, 8, -1, -1, -1, -1, -1, 9};
            check_seen(round ? own : want, 10);
        }
}

/* Chains, circles and doubles, half of the command and half of the override. */
TEST(b02_random_overrides) {
    distinct_files();
    for (int i = 0; i < count(4000); i++) {
        struct forkless_map maps[LOW];
        size_t n = 0;
        int want[LOW];
        struct show s = show_new();
        srand((unsigned)i);
        for (int fd = 0; fd < LOW; fd++) {
            int own = rand() % 3 ? rand() % LOW : -1, other = rand() % 3 ? rand() % LOW : -1;
            if (own >= 0)
                CHECK_EQ(forkless_command_fd(s.command, fd, own), 0);
            if (other >= 0)
                maps[n++] = (struct forkless_map){fd, other};
            want[fd] = other >= 0 ? other : own >= 0 ? own : fd < 3 ? fd : -1;
        }
        for (size_t k = n; k > 1; k--) {
            size_t other = (size_t)rand() % k;
            struct forkless_map keep = maps[k - 1];
            maps[k - 1] = maps[other];
            maps[other] = keep;
        }
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)(1 + rand() % 3)), 0);
        show_with(&s, launchers_with[i % 2], &(forkless_override){.maps = maps, .map_count = n});
        check_seen(want, LOW);
    }
    for (int fd = 0; fd < LOW; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), fd > 2 ? FD_CLOEXEC : 0);
}

TEST(beside_everything_else) {
    distinct_files();
    for (int l = 0; l < 2; l++) {
        const struct forkless_map maps[] = {{1, 8}, {4, 3}, {3, 4}, {5, 9}};
        const char *const more[] = {"more", NULL};
        struct show s = show_new();
        int program = open(PROBE, O_RDONLY | O_CLOEXEC);
        CHECK_EQ(dup3(program, 5, O_CLOEXEC), 5); /* the program's number is a target */
        CHECK_EQ(forkless_command_program_fd(s.command, 5), 0);
        CHECK_EQ(forkless_command_pipe(s.command, 0, FORKLESS_READS), 0);
        CHECK_EQ(forkless_command_same(s.command, 2, 1), 0);
        CHECK_EQ(forkless_command_file(s.command, 6, "/dev/null", O_RDWR, 0), 0);
        CHECK_EQ(forkless_command_memory(s.command, 7, "12345", 5), 0);
        const forkless_override o = {.arguments = more, .maps = maps, .map_count = 4};
        forkless_child *child = launched_with(launchers_with[l], s.command, &o);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        int end = forkless_child_pipe(child, 0);
        CHECK(end > 2);
        struct stat file;
        CHECK_EQ(fstat(end, &file), 0);
        show_read(&s, &seen);
        CHECK_EQ(seen.count, 8);
        const int want[] = {-1, 8, 8, 4, 3, 9};
        for (int fd = 1; fd < 6; fd++)
            CHECK_EQ(seen_fd(&seen, fd)->inode, files[want[fd]].st_ino);
        CHECK_EQ(seen_fd(&seen, 0)->inode, file.st_ino);
        CHECK_EQ(seen_fd(&seen, 7)->size, 5);
        CHECK(seen_line(&seen, "arg more"));
        close(end);
        close(program);
        forkless_child_free(child);
    }
}

/* ---- what is refused ---- */

#define MAPS(...)                                                                                  \
    (&(forkless_override){.maps = (struct forkless_map[]){__VA_ARGS__},                            \
                          .map_count = sizeof((struct forkless_map[]){__VA_ARGS__}) /              \
                                       sizeof(struct forkless_map)})

TEST(bad_overrides) {
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_fd(c, 3, 0), 0);
    CHECK_EQ(forkless_command_file(c, 4, "/dev/null", O_RDWR, 0), 0);
    CHECK_EQ(forkless_command_memory(c, 5, "12345", 5), 0);
    CHECK_EQ(forkless_command_pipe(c, 6, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_same(c, 7, 1), 0);
    ends(launched_with(forkless_spawn_with, c, MAPS({3, 1}, {8, 2})), FORKLESS_EXITED, 0);
    for (int fd = 4; fd < 8; fd++)
        refused(c, MAPS({3, 1}, {fd, 1}), -EEXIST);
    refused(c, MAPS({3, 1}, {8, 1}, {3, 2}), -EEXIST);
    refused(c, MAPS({8, 1}, {8, 1}), -EEXIST);
    refused(c, MAPS({-1, 1}), -EBADF);
    refused(c, MAPS({3, -1}), -EBADF);
    refused(c, MAPS({8, 1}, {9, -5}), -EBADF);
    refused(c, &(forkless_override){.map_count = 1}, -EINVAL);
    for (int i = 0; i < 4; i++) {
        forkless_override o = {0};
        o.reserved[i] = (uint64_t)1 << 16 * i;
        refused(c, &o, -EINVAL);
    }
    refused(c, &(forkless_override){.maps = MAPS({8, 1})->maps, .map_count = SIZE_MAX}, -E2BIG);
    forkless_command_free(c);
}

/* The more maps the command has the fewer fit. */
TEST(too_many_maps) {
    enum { MANY = 2000 };
    static struct forkless_map maps[MANY];
    forkless_override o = {.maps = maps, .map_count = MANY};
    for (int i = 0; i < MANY; i++)
        maps[i] = (struct forkless_map){3 + i, i % 3};
    size_t fits[2] = {0, 0};
    for (int own = 0; own < 2; own++) {
        forkless_command *c = probe("exit", NULL);
        for (int fd = 0; fd < 10 * own; fd++)
            CHECK_EQ(forkless_command_fd(c, 600 + fd, 0), 0);
        size_t low = 0, high = MANY;
        while (high - low > 1) {
            forkless_child *child;
            o.map_count = (low + high) / 2;
            if (forkless_spawn_with(c, &o, &child, NULL) == 0)
                low = o.map_count;
            else
                high = o.map_count;
            forkless_wait(child, FORKLESS_NEVER, NULL, NULL);
            forkless_child_free(child);
        }
        o.map_count = high;
        refused(c, &o, -E2BIG);
        o.map_count = low;
        for (int l = 0; l < 2; l++)
            ends(launched_with(launchers_with[l], c, &o), FORKLESS_EXITED, 0);
        fits[own] = low;
        forkless_command_free(c);
    }
    fprintf(stderr, "maps that fit: %zu, beside ten: %zu\n", fits[0], fits[1]);
    CHECK(fits[0] >= 100 && fits[0] < 1024 && fits[1] < fits[0]);
}

TEST(maps_of_what_is_not_open) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int pipes = 0; pipes < 2; pipes++)
        for (int from = 3; from < 7; from++) {
            forkless_command *c = probe("exit", NULL);
            if (pipes)
                CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
            CHECK_EQ(forkless_command_fd(c, 5, 1), 0);
            for (int l = 0; l < 2; l++) {
                forkless_child *child;
                forkless_error error;
                if (launchers_with[l](c, MAPS({5, from}), &child, &error) == 0)
                    forkless_wait(child, FORKLESS_NEVER, NULL, &error);
                forkless_child_free(child);
                CHECK_EQ(error.code, -EBADF);
                CHECK_EQ(error.step, FORKLESS_STEP_DESCRIPTOR);
                CHECK_EQ(error.index, 5);
                ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
            }
            forkless_command_free(c);
        }
    check_no_child();
}

/* ---- one command, many threads, to each its own ---- */

static const forkless_command *exits, *copies;

static void *one_of_many(void *number) {
    char code[8], word[32], text[64];
    long n = (long)number;
    int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
    const char *const more[] = {code, NULL};
    const struct forkless_map maps[] = {{1, out}, {0, in}};
    const forkless_override argument = {.arguments = more}, map = {.maps = maps, .map_count = 2};
    for (int i = 0; i < count(4000) / 16; i++) {
        int want = (int)(n * 15 + i) % 250;
        snprintf(code, sizeof code, "%d", want);
        ends(launched_with(launchers_with[i % 2], exits, &argument), FORKLESS_EXITED, want);
        int length = snprintf(word, sizeof word, "thread %ld, round %d", n, i);
        CHECK_EQ(pwrite(in, word, (size_t)length, 0), length);
        CHECK_EQ(lseek(in, 0, SEEK_SET) + lseek(out, 0, SEEK_SET) + ftruncate(out, 0), 0);
        ends(launched_with(launchers_with[(i + n) % 2], copies, &map), FORKLESS_EXITED, 0);
        CHECK_EQ(pread(out, text, sizeof text, 0), length);
        CHECK(memcmp(text, word, (size_t)length) == 0);
    }
    close(in);
    close(out);
    return NULL;
}

TEST(one_command_of_many_threads) {
    pthread_t threads[16];
    forkless_command *c[2] = {probe("exit", NULL), probe("cat", NULL)};
    exits = c[0];
    copies = c[1];
    for (long i = 0; i < 16; i++)
        threads[i] = thread(one_of_many, (void *)i);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    forkless_command_free(c[0]);
    forkless_command_free(c[1]);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_nothing),
        cmocka_unit_test(arguments_come_behind),
        cmocka_unit_test(sixteen_kib_of_arguments),
        cmocka_unit_test(maps_are_replaced_and_added),
        cmocka_unit_test(b02_random_overrides),
        cmocka_unit_test(beside_everything_else),
        cmocka_unit_test(bad_overrides),
        cmocka_unit_test(too_many_maps),
        cmocka_unit_test(maps_of_what_is_not_open),
        cmocka_unit_test(one_command_of_many_threads),
    };
    return RUN(tests);
}
