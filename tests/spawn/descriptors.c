/* The child's descriptors: which is which of the parent's. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

static struct stat stat_of(int fd) {
    struct stat s;
    CHECK_EQ(fstat(fd, &s), 0);
    return s;
}

/* A file of its own at this very number. */
static void file_at(int fd, int flags) {
    int new = memfd_create("file", 0);
    if (new != fd) {
        CHECK_EQ(dup3(new, fd, 0), fd);
        close(new);
    }
    CHECK_EQ(fcntl(fd, F_SETFD, flags), 0);
}

static void check_is(int fd, const struct stat *file) {

    const struct seen_fd *f = seen_fd(&seen, fd);
    CHECK(f);
    CHECK_EQ(f->flags, 0);
    CHECK(f->device == file->st_dev && f->inode == file->st_ino);
}

TEST(defaults_are_the_first_three) {
    for (int l = 0; l < 2; l++) {
        file_at(5, 0);
        file_at(77, 0);
        struct show s = show_new();
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen.count, 3);
        for (int fd = 0; fd < 3; fd++) {
            struct stat file = stat_of(fd);
            check_is(fd, &file);
        }
    }
}

TEST(b01_same_number) {
    for (int l = 0; l < 2; l++) {
        file_at(3, FD_CLOEXEC);
        struct stat file = stat_of(3);
        struct show s = show_new();
        CHECK_EQ(forkless_command_fd(s.command, 3, 3), 0);
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen.count, 4);
        check_is(3, &file);
        CHECK_EQ(fcntl(3, F_GETFD), FD_CLOEXEC);
    }
}

/* Starts with maps from `from` to their index, -1: none; compares with what was there. */
static void run_maps(launcher *launch, const int *from, int n) {
    struct stat files[16];
    bool open[16];
    int flags[16], bad = 0, bad_index = -1, made = 0;
    for (int fd = 0; fd < n; fd++) {
        open[fd] = fstat(fd, &files[fd]) == 0;
        flags[fd] = fcntl(fd, F_GETFD);
    }
    struct show s = show_new();
    for (int to = 0; to < n; to++) {
        if (from[to] >= 0)
            CHECK_EQ(forkless_command_fd(s.command, to, from[to]), 0);
        if (from[to] >= 0 && !open[from[to]])
            bad++;
    }
    forkless_child *child;
    forkless_error error = {0};
    int rc = launch(s.command, &child, &error);
    if (rc == 0)
        rc = forkless_wait(child, FORKLESS_NEVER, NULL, &error);
    forkless_child_free(child);
    for (int fd = 0; fd < n; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD), flags[fd]);
    if (bad) {
        CHECK_EQ(rc, -EBADF);
        CHECK_EQ(error.step, FORKLESS_STEP_DESCRIPTOR);
        bad_index = error.index;
        CHECK(bad_index >= 0 && bad_index < n && from[bad_index] >= 0);
        CHECK(!open[from[bad_index]]);
        forkless_command_free(s.command);
        close(s.memory);
        return;
    }
    CHECK_EQ(rc, 0);
    show_read(&s, &seen);
    for (int to = 0; to < n; to++) {
        int source = from[to] >= 0 ? from[to] : to < 3 && flags[to] == 0 ? to : -1;
        if (source >= 0) {
            check_is(to, &files[source]);
            made++;
        }
    }
    CHECK_EQ(seen.count, made);
}

TEST(b02_swap_and_rotate) {
    const int maps[][4] = {{-1, 2, 1, -1}, {1, 2, 0, -1}, {2, 0, 0, -1}, {3, 3, 3, 0}};
    for (int fd = 0; fd < 4; fd++)
        file_at(fd, 0);
    for (size_t i = 0; i < 4; i++)
        for (int l = 0; l < 2; l++)
            run_maps(launchers[l], maps[i], 4);
}

enum { LOW = 13 };

/* Every number open with a file of its own, closed with this likelihood in percent. */
static void shuffle_files(int closed) {
    for (int fd = 0; fd < LOW; fd++)
        if (rand() % 100 < closed)
            close(fd);
        else
            file_at(fd, rand() % 2 ? FD_CLOEXEC : 0);
}

static void random_maps(int n, int closed, int among) {
    for (int i = 0; i < n; i++) {
        int from[LOW];
        shuffle_files(closed);
        for (int to = 0; to < LOW; to++)
            from[to] = rand() % 4 ? rand() % among : -1;
        run_maps(launchers[i % 2], from, LOW);
    }
}

TEST(b02_random_maps) {
    srand(2);
    random_maps(count(6000), 0, LOW);
}

TEST(b02_random_maps_of_closed_ones) {
    srand(3);
    random_maps(count(6000), 8, LOW);
}

TEST(b02_random_permutations) {
    srand(4);
    for (int i = 0; i < count(6000); i++) {
        int from[LOW];
        for (int to = 0; to < LOW; to++)
            from[to] = to;
        for (int to = LOW - 1; to > 0; to--) {
            int other = rand() % (to + 1), keep = from[to];
            from[to] = from[other];
            from[other] = keep;
        }
        shuffle_files(i % 2 ? 0 : 8);
        run_maps(launchers[i / 2 % 2], from, LOW);
    }
}

TEST(b04_holes_among_targets) {
    for (int hole = 3; hole < LOW; hole++)
        for (int l = 0; l < 2; l++) {
            int from[LOW];
            for (int fd = 0; fd < LOW; fd++) {
                file_at(fd, FD_CLOEXEC);
                from[fd] = -1;
            }
            close(hole);
            from[0] = 1;
            from[1] = 2;
            from[2] = 0;
            from[hole] = 1;
            run_maps(launchers[l], from, LOW);
        }
}

TEST(b05_missing_program_beside_any_number) {
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    int source = memfd_create("source", 0);
    CHECK_EQ(source, 0);
    for (int to = 3; to <= 64; to++)
        for (int l = 0; l < 2; l++) {
            forkless_command *c = command("/nonexistent", NULL);
            CHECK_EQ(forkless_command_fd(c, to, source), 0);
            fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
            forkless_command_free(c);
        }
    check_no_child();
}

TEST(b06_running_child_holds_nothing_else) {
    int source = memfd_create("source", MFD_CLOEXEC);
    for (int to = 3; to <= 64; to += 7) {
        forkless_command *c = probe("pause", NULL);
        CHECK_EQ(forkless_command_fd(c, to, source), 0);
        forkless_child *child = launched(forkless_spawn, c);
        for (int fd = 0; fd < 100; fd++) {
            char path[64], target[64];
            snprintf(path, sizeof path, "/proc/%d/fd/%d", forkless_pid(child), fd);
            bool held = readlink(path, target, sizeof target) > 0;
            CHECK_EQ(held, fd < 3 || fd == to);
        }
        CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, 9);
        forkless_command_free(c);
    }
}

/* How the child gets its descriptors 0, 1 and 2. */
enum way { INHERIT, PIPES, NOTHING, MERGE, WAYS };

static void closed_standard(int closed, enum way way, launcher *launch) {
    int from[LOW], pipes[2];
    for (int fd = 0; fd < LOW; fd++)
        from[fd] = -1;
    for (int fd = 0; fd < 3; fd++) {
        file_at(fd, 0);
        if (closed & 1 << fd)
            close(fd);
    }
    CHECK_EQ(pipe(pipes), 0);
    int nothing = open("/dev/null", O_RDWR);
    CHECK(nothing >= 0 && nothing < LOW);
    if (way == PIPES) {
        from[0] = pipes[0];
        from[1] = from[2] = pipes[1];
    } else if (way == NOTHING) {
        from[0] = from[1] = from[2] = nothing;
    } else if (way == MERGE && !(closed & 2)) {
        from[2] = 1;
    }
    run_maps(launch, from, LOW);
    close(pipes[0]);
    close(pipes[1]);
    close(nothing);
}

TEST(b07_closed_standard_descriptors) {
    for (int closed = 0; closed < 8; closed++)
        for (enum way way = INHERIT; way < WAYS; way++)
            for (int l = 0; l < 2; l++)
                closed_standard(closed, way, launchers[l]);
}

TEST(b10_inheriting_changes_no_flags) {
    int pipes[2];
    CHECK_EQ(pipe2(pipes, O_NONBLOCK), 0);
    dup2(pipes[0], 0);
    for (int l = 0; l < 2; l++) {
        int before[3];
        for (int fd = 0; fd < 3; fd++)
            before[fd] = fcntl(fd, F_GETFL);
        struct show s = show_new();
        show_run(&s, launchers[l], &seen);
        for (int fd = 0; fd < 3; fd++) {
            CHECK_EQ(fcntl(fd, F_GETFL), before[fd]);
            CHECK_EQ(seen_fd(&seen, fd)->status, before[fd]);
        }
    }
}

/* What a path says of a descriptor holds until the exec. */
TEST(paths_of_descriptors) {
    int fd = open(PROBE, O_RDONLY | O_CLOEXEC), file = memfd_create("file", 0);
    char program[64], text[64];
    struct stat st;
    CHECK(fd > 2 && file > 2);
    CHECK_EQ(fstat(file, &st), 0);
    snprintf(program, sizeof program, "/proc/self/fd/%d", fd);
    snprintf(text, sizeof text, "/dev/fd/%d", file);
    for (int l = 0; l < 2; l++) {
        forkless_command *c = command(program, "exit", "7", NULL);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        forkless_command_free(c);
        struct show s = show_new();
        CHECK_EQ(forkless_command_file(s.command, 0, text, O_RDONLY, 0), 0);
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen_fd(&seen, 0)->inode, st.st_ino);
        snprintf(text, sizeof text, "%d", file); /* from there, it is the same */
        s = show_new();
        CHECK_EQ(forkless_command_cwd(s.command, "/proc/self/fd"), 0);
        CHECK_EQ(forkless_command_file(s.command, 0, text, O_RDONLY, 0), 0);
        show_run(&s, launchers[l], &seen);
        CHECK_EQ(seen_fd(&seen, 0)->inode, st.st_ino);
        snprintf(text, sizeof text, "//proc/self/fd/%d", file);
    }
}

TEST(b14_bad_numbers) {
    const int bad[][2] = {{-1, 0}, {0, -1}, {INT_MIN, 0}, {0, INT_MIN}};
    for (size_t i = 0; i < 4; i++) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_fd(c, bad[i][0], bad[i][1]), -EBADF);
        fails(forkless_spawn, c, -EBADF, FORKLESS_STEP_SETTER, bad[i][0]);
        forkless_command_free(c);
    }
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_fd(c, INT_MAX, 0), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_DESCRIPTOR, INT_MAX);
        forkless_command_free(c);
        c = probe("exit", NULL);
        CHECK_EQ(forkless_command_fd(c, 4, INT_MAX), 0);
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_DESCRIPTOR, 4);
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(many_maps) {
    struct show s = show_new();
    for (int to = 500; to > 2; to--)
        CHECK_EQ(forkless_command_fd(s.command, to, to % 3), 0);
    CHECK_EQ(forkless_command_fd(s.command, 500, 0), -EEXIST);
    forkless_command_free(s.command);
    s = show_new();
    for (int to = 500; to > 2; to--)
        CHECK_EQ(forkless_command_fd(s.command, to, to % 3), 0);
    show_run(&s, forkless_start, &seen);
    CHECK_EQ(seen.count, 501);
    for (int to = 3; to <= 500; to++) {
        struct stat file = stat_of(to % 3);
        check_is(to, &file);
    }
}

/* One child's pipe means one child's plan, for which there is less room. */
TEST(many_maps_and_a_pipe) {
    for (int n = 100; n <= 1000; n += 900) {
        forkless_command *c = probe("exit", "7", NULL);
        CHECK_EQ(forkless_command_pipe(c, 3, FORKLESS_WRITES), 0);
        for (int to = 4; to < n; to++)
            CHECK_EQ(forkless_command_fd(c, to, to % 3), 0);
        for (int l = 0; l < 2; l++)
            if (n == 100)
                ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
            else
                CHECK(fails(launchers[l], c, -E2BIG, FORKLESS_STEP_ARGUMENT, -1));
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(inherited_unless_marked) {
    CHECK_EQ(close_range(3, 500, 0), 0); /* what the tests' own host left */
    int low = memfd_create("file", 0), copy;
    for (int fd = 20; fd < 30; fd++)
        CHECK_EQ(dup3(low, fd, fd % 2 ? O_CLOEXEC : 0), fd);
    copy = fcntl(low, F_DUPFD_CLOEXEC, 40);
    close(low);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)(i / 2 + 1)), 0);
        struct show s = show_new();
        CHECK_EQ(forkless_command_inherit_fds(s.command), 0);
        CHECK_EQ(forkless_command_fd(s.command, 21, copy), 0);
        CHECK_EQ(forkless_command_fd(s.command, 23, 23), 0);
        CHECK_EQ(forkless_command_fd(s.command, 24, 0), 0);
        CHECK_EQ(forkless_command_same(s.command, 11, 26), 0);
        show_run(&s, launchers[i % 2], &seen);
        for (int fd = 20; fd < 30; fd++)
            CHECK_EQ(seen_fd(&seen, fd) != NULL, fd % 2 == 0 || fd == 21 || fd == 23);
        CHECK_EQ(seen_fd(&seen, 21)->inode, seen_fd(&seen, 20)->inode);
        CHECK_EQ(seen_fd(&seen, 24)->inode, seen_fd(&seen, 0)->inode);
        CHECK_EQ(seen_fd(&seen, 11)->inode, seen_fd(&seen, 26)->inode);
        CHECK_EQ(seen.count, 3 + 5 + 2 + 1);
        CHECK_EQ(fcntl(23, F_GETFD), FD_CLOEXEC);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_first_three),
        cmocka_unit_test(b01_same_number),
        cmocka_unit_test(b02_swap_and_rotate),
        cmocka_unit_test(b02_random_maps),
        cmocka_unit_test(b02_random_maps_of_closed_ones),
        cmocka_unit_test(b02_random_permutations),
        cmocka_unit_test(b04_holes_among_targets),
        cmocka_unit_test(b05_missing_program_beside_any_number),
        cmocka_unit_test(b06_running_child_holds_nothing_else),
        cmocka_unit_test(b07_closed_standard_descriptors),
        cmocka_unit_test(b10_inheriting_changes_no_flags),
        cmocka_unit_test(paths_of_descriptors),
        cmocka_unit_test(b14_bad_numbers),
        cmocka_unit_test(many_maps),
        cmocka_unit_test(many_maps_and_a_pipe),
        cmocka_unit_test(inherited_unless_marked),
    };
    return RUN(tests);
}
