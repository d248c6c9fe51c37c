/* Pipes to the child, and descriptors that are the same as another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;
static struct snapshot before;

/* Which descriptors are open; nothing else, for a table that is full. */
static void remember_open(void) {
    for (int fd = 0; fd < (int)sizeof before.fds; fd++)
        before.fds[fd] = (signed char)fcntl(fd, F_GETFD);
}

static void check_open(void) {
    for (int fd = 0; fd < (int)sizeof before.fds; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), before.fds[fd]);
}

static forkless_command *shell(const char *line) {
    return command("/bin/sh", "-c", line, NULL);
}

static void add_pipe(forkless_command *c, int child_fd, enum forkless_end end) {
    CHECK_EQ(forkless_command_pipe(c, child_fd, end), 0);
}

/* Everything until the end. */
static void check_reads(int fd, const char *want) {
    char text[256];
    size_t size = 0;
    ssize_t n;
    while ((n = read(fd, text + size, sizeof text - size)) > 0)
        size += (size_t)n;
    CHECK_EQ(n, 0);
    CHECK_EQ(size, strlen(want));
    CHECK(memcmp(text, want, size) == 0);
    CHECK_EQ(close(fd), 0);
}

static void check_end(int fd, int access) {
    CHECK(fd >= 3);
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), access);
}

TEST(three_at_once) {
    forkless_command *c = shell("read -r x; echo out $x; echo err $x >&2");
    add_pipe(c, 2, FORKLESS_WRITES);
    add_pipe(c, 0, FORKLESS_READS);
    add_pipe(c, 1, FORKLESS_WRITES);
    for (int i = 0; i < 20; i++) {
        forkless_child *child = launched(launchers[i % 2], c);
        int in = forkless_child_pipe(child, 0), out = forkless_child_pipe(child, 1),
            err = forkless_child_pipe(child, 2);
        check_end(in, O_WRONLY);
        check_end(out, O_RDONLY);
        check_end(err, O_RDONLY);
        CHECK_EQ(write(in, "word\n", 5), 5);
        close(in);
        check_reads(out, "out word\n");
        check_reads(err, "err word\n");
        ends(child, FORKLESS_EXITED, 0);
    }
    forkless_command_free(c);
}

TEST(b10_ends_block) {
    static char data[1 << 20];
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_memory(c, 0, data, sizeof data), 0);
    add_pipe(c, 1, FORKLESS_WRITES);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_child_pipe(child, 1);
        nap(20000); /* by now it is full, most likely */
        size_t size = 0;
        for (ssize_t n; (n = read(fd, data, 3000)) > 0;)
            size += (size_t)n;
        CHECK_EQ(size, sizeof data);
        close(fd);
        ends(child, FORKLESS_EXITED, 0);
    }
    forkless_command_free(c);
}

/* Eight, over the numbers that the pipes themselves get. */
TEST(as_many_as_there_may_be) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        struct stat file;
        struct show s = show_new();
        CHECK_EQ(forkless_command_pipe(s.command, 1, (enum forkless_end)(l * 3)), -EINVAL);
        fails(launchers[l], s.command, -EINVAL, FORKLESS_STEP_SETTER, 1);
        forkless_command_free(s.command);
        s = show_new();
        for (int fd = 3; fd < 3 + FORKLESS_PIPES; fd++)
            add_pipe(s.command, fd, fd % 2 ? FORKLESS_READS : FORKLESS_WRITES);
        child = launched(launchers[l], s.command);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        show_read(&s, &seen);
        CHECK_EQ(seen.count, 3 + FORKLESS_PIPES);
        for (int fd = 3; fd < 3 + FORKLESS_PIPES; fd++) {
            int ours = forkless_child_pipe(child, fd);
            check_end(ours, fd % 2 ? O_WRONLY : O_RDONLY);
            CHECK_EQ(fstat(ours, &file), 0);
            CHECK_EQ(seen_fd(&seen, fd)->inode, file.st_ino);
            CHECK_EQ(seen_fd(&seen, fd)->status, fd % 2 ? O_RDONLY : O_WRONLY);
            CHECK_EQ(seen_fd(&seen, fd)->flags, 0);
            close(ours);
        }
        forkless_child_free(child);
    }
    forkless_command *c = probe("exit", NULL);
    for (int fd = 3; fd < 3 + FORKLESS_PIPES; fd++)
        add_pipe(c, fd, FORKLESS_READS);
    CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_READS), -E2BIG);
    forkless_command_free(c);
}

/* Whose plan is made for one child, in the room that there is. */
TEST(beside_many_others) {
    struct show s = show_new();
    add_pipe(s.command, 0, FORKLESS_READS);
    for (int fd = 500; fd < 600; fd++)
        CHECK_EQ(forkless_command_fd(s.command, fd, 1), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK_EQ(seen.count, 103);
}

TEST(an_end_is_taken_once) {
    forkless_command *c = probe("exit", NULL);
    add_pipe(c, 0, FORKLESS_READS);
    add_pipe(c, 1, FORKLESS_WRITES);
    CHECK_EQ(forkless_command_fd(c, 2, 2), 0);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_child_pipe(child, 1);
        CHECK(fd >= 3);
        CHECK_EQ(forkless_child_pipe(child, 1), -EBADF);
        CHECK_EQ(forkless_child_pipe(child, 2), -EBADF);
        CHECK_EQ(forkless_child_pipe(child, 3), -EBADF);
        CHECK_EQ(forkless_child_pipe(child, -1), -EBADF);
        CHECK_EQ(forkless_child_pipe(NULL, 1), -EINVAL);
        ends(child, FORKLESS_EXITED, 0); /* closes the other */
        check_reads(fd, "");
        if (l == 0) /* the slots' room is opened once */
            snapshot_take(&before);
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

/* ---- B07 ---- */

enum way { INHERIT, PIPES, NOTHING, MERGE, WAYS };

static void check_standard(forkless_child *child, int fd, enum way way, int closed) {
    struct stat file;
    const struct seen_fd *f = seen_fd(&seen, fd);
    if (way == PIPES || (way == MERGE && fd == 1)) {
        int ours = forkless_child_pipe(child, fd);
        check_end(ours, fd ? O_RDONLY : O_WRONLY);
        CHECK_EQ(fstat(ours, &file), 0);
        close(ours);
    } else if (way == NOTHING) {
        CHECK_EQ(stat("/dev/null", &file), 0);
    } else if (way == MERGE && fd == 2) {
        CHECK_EQ(f->inode, seen_fd(&seen, 1)->inode);
        return;
    } else if (closed & 1 << fd) {
        CHECK(!f);
        return;
    } else {
        CHECK_EQ(fstat(fd, &file), 0);
    }
    CHECK(f && f->flags == 0);
    CHECK(f->device == file.st_dev && f->inode == file.st_ino);
}

static void closed_standard(int closed, enum way way, launcher *launch) {
    for (int fd = 0; fd < 3; fd++) {
        int file = memfd_create("file", 0);
        if (file != fd) {
            CHECK_EQ(dup2(file, fd), fd);
            close(file);
        }
    }
    struct show s = show_new();
    for (int fd = 0; fd < 3; fd++)
        if (closed & 1 << fd)
            close(fd);
    for (int fd = 0; fd < 3; fd++)
        if (way == PIPES || (way == MERGE && fd == 1))
            add_pipe(s.command, fd, fd ? FORKLESS_WRITES : FORKLESS_READS);
        else if (way == NOTHING)
            CHECK_EQ(forkless_command_file(s.command, fd, "/dev/null", O_RDWR, 0), 0);
        else if (way == MERGE && fd == 2)
            CHECK_EQ(forkless_command_same(s.command, 2, 1), 0);
    remember_open();
    forkless_child *child = launched(launch, s.command);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    for (int fd = 0; fd < 3; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), before.fds[fd]);
    int memory = s.memory;
    show_read(&s, &seen);
    before.fds[memory] = -1;
    for (int fd = 0; fd < 3; fd++)
        check_standard(child, fd, way, closed);
    CHECK(seen.count <= 3);
    forkless_child_free(child);
    check_open();
}

TEST(b07_closed_standard_descriptors) {
    for (int m = FORKLESS_CLONE3_VM; m <= FORKLESS_CLONE_VFORK; m++) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)m), 0);
        for (int closed = 0; closed < 8; closed++)
            for (enum way way = INHERIT; way < WAYS; way++)
                for (int l = 0; l < 2; l++)
                    closed_standard(closed, way, launchers[l]);
    }
}

/* ---- failures ---- */

static forkless_command *with_pipes(const char *program, int n) {
    forkless_command *c = command(program, NULL);
    for (int fd = 0; fd < n; fd++)
        add_pipe(c, fd, fd ? FORKLESS_WRITES : FORKLESS_READS);
    return c;
}

TEST(b15_failures_leave_no_pipe) {
    for (int l = 0; l < 2; l++) { /* so that the slot has its room */
        forkless_command *c = with_pipes(PROBE, 3);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
        forkless_command_free(c);
    }
    snapshot_take(&before);
    for (int i = 0; i < count(2000); i++) {
        forkless_command *c = with_pipes(i % 8 < 2 ? "/nonexistent" : PROBE, 1 + i % 3);
        enum forkless_step step = FORKLESS_STEP_EXEC;
        int code = -ENOENT, index = -1;
        if (i % 8 >= 6) {
            step = FORKLESS_STEP_DESCRIPTOR;
            code = -EBADF;
            index = 5;
            CHECK_EQ(forkless_command_fd(c, 5, 599), 0);
        } else if (i % 8 >= 4) {
            step = FORKLESS_STEP_FILE;
            index = 6;
            CHECK_EQ(forkless_command_file(c, 6, "/nonexistent", O_RDONLY, 0), 0);
        } else if (i % 8 >= 2) {
            step = FORKLESS_STEP_CWD;
            CHECK_EQ(forkless_command_cwd(c, "/nonexistent"), 0);
        }
        fails(launchers[i % 2], c, code, step, index);
        forkless_command_free(c);
    }
    snapshot_check(&before);
}

TEST(b15_no_child_and_no_pipe) {
    forkless_command *c = with_pipes(PROBE, 3);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    remember_open();
    pid_t pid = forked();
    if (pid == 0) {
        refuse(SYS_clone3, EAGAIN);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, -EAGAIN, FORKLESS_STEP_CLONE, -1);
        check_open();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    forkless_command_free(c);
}

/* Two for each pipe; what was made goes when the next cannot be. */
static void with_spare(int pipes, int spare) {
    forkless_command *c = with_pipes(PROBE, pipes);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    struct rlimit limit = {700, 700};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (dup(0) >= 0)
        ;
    for (int fd = 100; fd < 100 + spare; fd++)
        close(fd);
    remember_open();
    for (int l = 0; l < 2; l++)
        if (spare >= 2 * pipes)
            ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
        else
            CHECK(fails(launchers[l], c, -EMFILE, FORKLESS_STEP_PIPE, spare / 2));
    check_open();
    if (spare == 0) { /* the only free numbers are those that a pipe may not keep */
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        remember_open();
        for (int l = 0; l < 2; l++)
            CHECK(fails(launchers[l], c, -EMFILE, FORKLESS_STEP_PIPE, 0));
        check_open();
    }
    _exit(0);
}

TEST(b38_few_descriptors) {
    for (int pipes = 1; pipes <= 3; pipes++)
        for (int spare = 0; spare <= 7; spare++) {
            pid_t pid = forked();
            if (pid == 0)
                with_spare(pipes, spare);
            int status;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            CHECK_EQ(status, 0);
        }
}

/* What is not open is an error, although our own pipe has that number by then. */
static void reads_closed(int number) {
    for (int l = 0; l < 2; l++) {
        forkless_command *c = with_pipes(PROBE, 2);
        CHECK_EQ(forkless_command_fd(c, 9, number), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_DESCRIPTOR, 9);
        forkless_command_free(c);
        c = with_pipes(PROBE, 2);
        CHECK_EQ(forkless_command_program_fd(c, number), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_EXEC, -1);
        forkless_command_free(c);
        c = with_pipes(PROBE, 2);
        CHECK_EQ(forkless_command_cwd_fd(c, number), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_CWD, number);
        forkless_command_free(c);
    }
}

TEST(a_pipe_is_not_what_its_number_was) {
    CHECK_EQ(close_range(3, 500, 0), 0);
    for (int number = 3; number < 7; number++)
        reads_closed(number);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_at_once),
        cmocka_unit_test(b10_ends_block),
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(beside_many_others),
        cmocka_unit_test(an_end_is_taken_once),
        cmocka_unit_test(b07_closed_standard_descriptors),
        cmocka_unit_test(b15_failures_leave_no_pipe),
        cmocka_unit_test(b15_no_child_and_no_pipe),
        cmocka_unit_test(b38_few_descriptors),
        cmocka_unit_test(a_pipe_is_not_what_its_number_was),
    };
    return RUN(tests);
}
