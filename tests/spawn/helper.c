/* Children that execute forkless-exec first: the promises, what the target gets and what it does
 * not see. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen, plain;

/* What everybody may set, root or not: the score is not below its own. */
static forkless_command *helped(forkless_command *c) {
    CHECK_EQ(forkless_command_oom_score(c, 500), 0);
    return c;
}

/* Without the line of this name: what one child has differently. */
static void drop_line(char *text, const char *name) {
    char *line = strstr(text, name), *end = line ? strchr(line + 1, '\n') : NULL;
    CHECK(line && end);
    memmove(line, end, strlen(end) + 1);
}

static void own_stdin(void) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_EQ(dup2(fd, 0), 0);
}

/* But for what was asked for, the target is the same as ever. */
TEST(the_same_child_as_ever) {
    with_helper();
    own_stdin();
    CHECK_EQ(dup2(0, 9), 9);
    signal(SIGUSR1, SIG_IGN);
    for (int l = 0; l < 2; l++) {
        struct show s = show_new();
        show_run(&s, launchers[l], &plain);
        s = show_new();
        helped(s.command);
        forkless_child *child = launched(launchers[l], s.command);
        CHECK(forkless_helped(child));
        ends(child, FORKLESS_EXITED, 0);
        show_read(&s, &seen);
        CHECK(strstr(seen.text, "\nscore 500 \n"));
        drop_line(seen.text, "\nscore");
        drop_line(plain.text, "\nscore");
        CHECK(strcmp(seen.text, plain.text) == 0);
    }
    check_no_child();
}

TEST(plain_children_are_not_helped) {
    with_helper();
    forkless_command *c = probe("exit", "7", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        CHECK(!forkless_helped(child));
        ends(child, FORKLESS_EXITED, 7);
    }
    CHECK(!forkless_helped(NULL));
    forkless_command_free(c);
}

/* ---- errors ---- */

TEST(exec_errors_come_with_their_step) {
    static struct snapshot before;
    with_helper();
    forkless_command *bad = helped(command("/nonexistent", NULL)),
                     *folder = helped(command("/", NULL)), *cwd = helped(probe("exit", NULL)),
                     *good = helped(probe("exit", "7", NULL));
    CHECK_EQ(forkless_command_cwd(cwd, "/nonexistent"), 0);
    for (int l = 0; l < 2; l++) {
        forkless_command *all[] = {bad, folder, cwd};
        for (int i = 0; i < 3; i++) /* whose jobs stay open */
            fails(launchers[l], all[i], i == 1 ? -EACCES : -ENOENT,
                  i == 2 ? FORKLESS_STEP_CWD : FORKLESS_STEP_EXEC, -1);
    }
    snapshot_take(&before);
    CHECK(fails(forkless_spawn, bad, -ENOENT, FORKLESS_STEP_EXEC, -1));
    CHECK(!fails(forkless_start, bad, -ENOENT, FORKLESS_STEP_EXEC, -1));
    for (int l = 0; l < 2; l++) {
        fails(launchers[l], folder, -EACCES, FORKLESS_STEP_EXEC, -1);
        forkless_child *child;
        forkless_error error;
        if (launchers[l](cwd, &child, &error) == 0)
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, &error), -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_CWD);
        CHECK(strcmp(error.subject, "/nonexistent") == 0);
        forkless_child_free(child);
    }
    snapshot_check(&before);
    ends(launched(forkless_spawn, good), FORKLESS_EXITED, 7);
    forkless_command_free(bad);
    forkless_command_free(folder);
    forkless_command_free(cwd);
    forkless_command_free(good);
}

/* The commands' jobs are closed with them. */
TEST(nothing_is_left) {
    static struct snapshot before;
    with_helper();
    forkless_command *first = helped(probe("exit", "7", NULL));
    ends(launched(forkless_spawn, first), FORKLESS_EXITED, 7);
    forkless_command_free(first);
    ends(launched(forkless_spawn, first = probe("exit", "7", NULL)), FORKLESS_EXITED, 7);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++) {
        forkless_command *c = helped(probe("exit", "7", NULL));
        CHECK_EQ(forkless_command_cwd(c, "/"), 0);
        for (int i = 0; i < 20; i++)
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        forkless_command_free(c);
        ends(launched(launchers[l], first), FORKLESS_EXITED, 7); /* the slot lets the last go */
        for (int fd = 0; fd < 1200; fd++)
            CHECK_EQ(fcntl(fd, F_GETFD), before.fds[fd]);
    }
    forkless_command_free(first);
    check_no_child();
}

TEST(what_is_refused) {
    with_helper();
    forkless_command *c = helped(probe("exit", NULL));
    CHECK_EQ(forkless_command_inherit_fds(c), 0);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -ENOTSUP, FORKLESS_STEP_HELPER, -1));
    forkless_command_free(c);
    const gid_t bad[] = {5, (gid_t)-1};
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_uid(c, (uid_t)-1), -EINVAL);
    CHECK_EQ(forkless_command_gid(c, (gid_t)-1), -EINVAL);
    CHECK_EQ(forkless_command_groups(c, 2, bad), -EINVAL);
    CHECK_EQ(forkless_command_groups(c, 1, NULL), -EINVAL);
    CHECK_EQ(forkless_command_groups(c, 65537, bad), -EINVAL);
    CHECK_EQ(forkless_command_oom_score(c, 1001), -EINVAL);
    CHECK_EQ(forkless_command_oom_score(c, -1001), -EINVAL);
    CHECK_EQ(forkless_command_cgroup_path(c, ""), -EINVAL);
    CHECK_EQ(forkless_command_cgroup_path(c, NULL), -EINVAL);
    forkless_child *child;
    forkless_error error;
    CHECK_EQ(forkless_spawn(c, &child, &error), -EINVAL);
    CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
    CHECK(strcmp(error.subject, "forkless_command_uid") == 0);
    forkless_command_free(c);
    CHECK_EQ(forkless_command_capabilities(NULL, 0), -EINVAL);
    CHECK_EQ(forkless_command_securebits(NULL, 0), -EINVAL);
}

/* ---- descriptors: B05, B38 ---- */

/* Its numbers get out of the way of the target's, one by one and of overrides. */
TEST(b05_every_number_is_free_for_targets) {
    with_helper();
    own_stdin();
    for (int to = 3; to <= 24; to++)
        for (int l = 0; l < 2; l++) {
            struct show s = show_by_stdout();
            helped(s.command);
            for (int also = 3; also < to; also += 2)
                CHECK_EQ(forkless_command_fd(s.command, also, 0), 0);
            if (to % 2 == 0)
                CHECK_EQ(forkless_command_fd(s.command, to, 0), 0);
            int pipe_end = to + 3;
            CHECK_EQ(forkless_command_pipe(s.command, pipe_end, FORKLESS_WRITES), 0);
            const struct forkless_map maps[] = {{to + 1, 0}, {to + 5, 1}};
            const char *more[] = {"more", NULL};
            const forkless_override o = {.arguments = more, .maps = maps, .map_count = 2};
            forkless_child *child;
            CHECK_EQ((l ? forkless_start_with : forkless_spawn_with)(s.command, &o, &child, NULL),
                     (0));
            ends(child, FORKLESS_EXITED, 0);
            show_read(&s, &seen);
            int want = 0;
            for (int fd = 0; fd < to + 6; fd++) {
                bool open = fd < 3 || (fd < to && fd % 2 == 1) || (fd == to && to % 2 == 0) ||
                            fd == to + 1 || fd == to + 3 || fd == to + 5;
                CHECK_EQ(seen_fd(&seen, fd) != NULL, open);
                want += open;
            }
            CHECK_EQ(seen.count, want);
            CHECK(seen_line(&seen, "arg more"));
        }
    check_no_child();
}

/* A program that is a descriptor, at every number, one of which is a target. */
TEST(b05_program_by_descriptor) {
    with_helper();
    own_stdin();
    for (int fd = 3; fd < 16; fd++) {
        int program = open(PROBE, O_RDONLY | O_CLOEXEC);
        CHECK_EQ(dup3(program, 300, O_CLOEXEC), 300);
        close(program);
        CHECK_EQ(dup3(300, fd, O_CLOEXEC), fd);
        for (int l = 0; l < 2; l++) {
            struct show s = show_by_stdout();
            helped(s.command);
            CHECK_EQ(forkless_command_program_fd(s.command, fd), 0);
            CHECK_EQ(forkless_command_fd(s.command, 5, 0), 0);
            show_run(&s, launchers[l], &seen);
            CHECK_EQ(seen.count, 4);
            CHECK_EQ(seen.fds[3].fd, 5);
        }
        close(fd);
    }
    forkless_command *c = helped(probe("exit", NULL));
    CHECK_EQ(forkless_command_program_fd(c, 77), 0);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -EBADF, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(c);
}

/* None of the library's own numbers is one that a command may name. */
TEST(a_source_that_is_not_open) {
    with_helper();
    forkless_command *warm = helped(probe("exit", "7", NULL));
    ends(launched(forkless_spawn, warm), FORKLESS_EXITED, 7);
    for (int from = 3; from < 12; from++) {
        if (fcntl(from, F_GETFD) >= 0)
            continue;
        forkless_command *c = helped(probe("exit", "7", NULL));
        CHECK_EQ(forkless_command_fd(c, 20, from), 0);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, -EBADF, FORKLESS_STEP_DESCRIPTOR, 20);
        forkless_command_free(c);
    }
    forkless_command_free(warm);
}

static int open_descriptors(void) {
    int n = 0;
    for (int fd = 0; fd < 700; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(b38_few_descriptors) {
    with_helper();
    struct rlimit limit = {700, 700};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (dup(0) >= 0)
        ;
    bool worked = false;
    for (int spare = 0; spare <= 6; spare++) {
        forkless_command *c = helped(probe("exit", "7", NULL));
        for (int l = 0; l < 2; l++) {
            forkless_child *child;
            forkless_error error;
            int rc = launchers[l](c, &child, &error);
            CHECK(rc == 0 || (rc == -EMFILE && error.step == FORKLESS_STEP_HELPER));
            CHECK(rc == 0 || !worked);
            worked |= rc == 0;
            if (rc == 0)
                ends(child, FORKLESS_EXITED, 7);
        }
        forkless_command_free(c);
        check_no_child();
        CHECK_EQ(worked, spare >= 4);
        CHECK(open_descriptors() <= 700 - spare + 2); /* forkless-exec, the last slot's job */
        close(600 + spare);
    }
    CHECK(worked);
}

/* A host that closes all there is, and opens others at the numbers. */
TEST(closed_behind_its_back) {
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    for (int i = 0; i < 3; i++) {
        for (int l = 0; l < 2; l++)
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        for (int fd = 3; fd < 500; fd++)
            close(fd);
        for (int n = 0; i > 0 && n < 8; n++)
            CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    }
    forkless_command_free(c);
    for (int fd = 3; fd < 11; fd++)
        CHECK(fcntl(fd, F_GETFD) >= 0);
}

/* ---- other ways to make it ---- */

TEST(b103_without_clone3) {
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL)), *bad = helped(command("/none", NULL));
    refuse(SYS_clone3, ENOSYS);
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 2; l++) {
            forkless_child *child = launched(launchers[l], c);
            CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE_VFORK);
            CHECK(forkless_helped(child));
            ends(child, FORKLESS_EXITED, 7);
            fails(launchers[l], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
        }
    forkless_command_free(c);
    forkless_command_free(bad);
    check_no_child();
}

/* Its job and the helper are opened by whoever is first. */
static void *first_use(void *c) {
    ends(launched(forkless_start, c), FORKLESS_EXITED, 7);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    return NULL;
}

TEST(first_used_by_many_threads) {
    with_helper();
    int before = open_descriptors();
    for (int i = 0; i < count(600); i++) {
        pthread_t threads[4];
        forkless_command *c = helped(probe("exit", "7", NULL));
        for (int k = 0; k < 4; k++)
            threads[k] = thread(first_use, c);
        for (int k = 0; k < 4; k++)
            CHECK_EQ(pthread_join(threads[k], NULL), 0);
        forkless_command_free(c);
    }
    CHECK(open_descriptors() <= before + 1);
    check_no_child();
}

/* Children of a process that was forked after the first use. */
TEST(after_a_fork) {
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    pid_t pid = forked();
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
    if (pid == 0)
        _exit(0);
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

TEST(many_descriptors) {
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    for (int fd = 3; fd < 103; fd++)
        CHECK_EQ(forkless_command_fd(c, fd, 0), 0);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
    c = helped(probe("exit", "7", NULL));
    for (int fd = 3; fd < 300; fd++)
        CHECK_EQ(forkless_command_fd(c, fd, 0), 0);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -E2BIG, FORKLESS_STEP_ARGUMENT, -1));
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_child_as_ever),
        cmocka_unit_test(plain_children_are_not_helped),
        cmocka_unit_test(exec_errors_come_with_their_step),
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(b05_every_number_is_free_for_targets),
        cmocka_unit_test(b05_program_by_descriptor),
        cmocka_unit_test(a_source_that_is_not_open),
        cmocka_unit_test(b38_few_descriptors),
        cmocka_unit_test(closed_behind_its_back),
        cmocka_unit_test(b103_without_clone3),
        cmocka_unit_test(first_used_by_many_threads),
        cmocka_unit_test(after_a_fork),
        cmocka_unit_test(many_descriptors),
    };
    return RUN(tests);
}
