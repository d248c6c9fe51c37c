/* What setters refuse, and that a command keeps it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static const unsigned char no_cpu[8];
static const gid_t bad_groups[] = {1, (gid_t)-1};
static const struct rlimit one = {1, 1}, turned = {2, 1};
static sigset_t mask;

/* `what` to be refused with `code`, by the setter `name`, about its `index`. */
#define REFUSES(code, name, index, ...)                                                            \
    do {                                                                                           \
        forkless_command *c = probe("exit", NULL);                                                 \
        CHECK_EQ(forkless_command_##name(c, ##__VA_ARGS__), code);                                 \
        check_sticks(c, code, "forkless_command_" #name, index);                                   \
    } while (0)

static void check_sticks(forkless_command *c, int code, const char *setter, int index) {
    static struct snapshot before;
    CHECK_EQ(forkless_command_umask(c, 0777), 0);    /* what is right does not mend it, */
    CHECK_EQ(forkless_command_nice(c, 99), -EINVAL); /* what is wrong comes too late */
    snapshot_take(&before);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = (forkless_child *)c;
        forkless_error error;
        char text[512];
        CHECK_EQ(launchers[l](c, &child, &error), code);
        CHECK(child == NULL);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
        if (strcmp(error.subject, setter) != 0)
            check_failed(error.subject, 0, setter);
        if (error.index != index)
            check_failed(setter, error.index, "is not the index");
        forkless_error_print(&error, text, sizeof text);
        CHECK(strstr(text, setter) && !strstr(text, "unknown"));
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

static void warm_up(void) {
    forkless_command *c = probe("exit", NULL);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

TEST(program_arguments_environment) {
    warm_up();
    REFUSES(-EBADF, program_fd, -1, -1);
    REFUSES(-EBADF, program_fd, INT_MIN, INT_MIN);
    REFUSES(-EINVAL, arg, 2, NULL);
    REFUSES(-EINVAL, arg0, 0, NULL);
    REFUSES(-EINVAL, env, -1, NULL);
    REFUSES(-EINVAL, setenv, -1, NULL, "x");
    REFUSES(-EINVAL, setenv, -1, "", "x");
    REFUSES(-EINVAL, setenv, -1, "A=B", "x");
    REFUSES(-EINVAL, setenv, -1, "A=B", NULL);
}

TEST(files) {
    warm_up();
    REFUSES(-EINVAL, cwd, -1, NULL);
    REFUSES(-EINVAL, cwd, -1, "");
    REFUSES(-EBADF, cwd_fd, -1, -1);
    REFUSES(-EINVAL, umask, -1, 01000);
    REFUSES(-EINVAL, umask, -1, (mode_t)-1);
}

TEST(b14_descriptors) {
    warm_up();
    REFUSES(-EBADF, fd, -1, -1, 0);
    REFUSES(-EBADF, fd, 4, 4, -1);
    REFUSES(-EBADF, file, -3, -3, "/dev/null", O_RDONLY, 0);
    REFUSES(-EINVAL, file, 3, 3, NULL, O_RDONLY, 0);
    REFUSES(-EINVAL, file, 3, 3, "", O_RDONLY, 0);
    REFUSES(-EBADF, pipe, -1, -1, FORKLESS_READS);
    REFUSES(-EINVAL, pipe, 3, 3, (enum forkless_end)0);
    REFUSES(-EINVAL, pipe, 3, 3, (enum forkless_end)3);
    REFUSES(-EBADF, memory, -1, -1, "x", 1);
    REFUSES(-EINVAL, memory, 3, 3, NULL, 1);
    REFUSES(-EBADF, same, -1, -1, 0);
    REFUSES(-EBADF, same, 3, 3, -1);
    REFUSES(-ELOOP, same, 3, 3, 3);
}

/* Each number once, whoever took it. */
TEST(descriptors_given_before) {
    warm_up();
    for (int first = 0; first < 5; first++)
        for (int second = 0; second < 5; second++) {
            static const char *const names[] = {"forkless_command_fd", "forkless_command_file",
                                                "forkless_command_pipe", "forkless_command_memory",
                                                "forkless_command_same"};
            forkless_command *c = probe("exit", NULL);
            for (int i = 0; i < 2; i++) {
                const int rcs[] = {
                    (i ? second : first) == 0 ? forkless_command_fd(c, 5, 0) : 1,
                    (i ? second : first) == 1
                        ? forkless_command_file(c, 5, "/dev/null", O_RDONLY, 0)
                        : 1,
                    (i ? second : first) == 2 ? forkless_command_pipe(c, 5, FORKLESS_WRITES) : 1,
                    (i ? second : first) == 3 ? forkless_command_memory(c, 5, "x", 1) : 1,
                    (i ? second : first) == 4 ? forkless_command_same(c, 5, 1) : 1,
                };
                CHECK_EQ(rcs[i ? second : first], i ? -EEXIST : 0);
            }
            check_sticks(c, -EEXIST, names[second], 5);
        }
}

TEST(circles_and_too_many) {
    warm_up();
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_same(c, 3, 4), 0);
    CHECK_EQ(forkless_command_same(c, 4, 5), 0);
    CHECK_EQ(forkless_command_same(c, 5, 3), -ELOOP);
    check_sticks(c, -ELOOP, "forkless_command_same", 5);
    c = probe("exit", NULL);
    for (int i = 0; i < FORKLESS_PIPES; i++)
        CHECK_EQ(forkless_command_pipe(c, 3 + i, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_pipe(c, 20, FORKLESS_READS), -E2BIG);
    check_sticks(c, -E2BIG, "forkless_command_pipe", 20);
    c = probe("exit", NULL); /* known only when all is set */
    CHECK_EQ(forkless_command_same(c, 7, 5), 0);
    CHECK_EQ(forkless_command_umask(c, 0), 0);
    for (int l = 0; l < 2; l++) {
        forkless_error error;
        forkless_child *child;
        CHECK_EQ(launchers[l](c, &child, &error), -EBADF);
        CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
        CHECK_EQ(error.index, 7);
        CHECK(strcmp(error.subject, "forkless_command_same") == 0);
    }
    forkless_command_free(c);
}

TEST(groups_and_terminals) {
    warm_up();
    REFUSES(-EINVAL, group, -1, -1);
    REFUSES(-EBADF, terminal, -1, -1);
    REFUSES(-EBADF, foreground, -1, -1);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_session(c), 0);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    CHECK_EQ(forkless_command_group(c, 5), -EINVAL);
    check_sticks(c, -EINVAL, "forkless_command_group", 5);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_group(c, 5), 0);
    CHECK_EQ(forkless_command_session(c), -EINVAL);
    check_sticks(c, -EINVAL, "forkless_command_session", -1);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_group(c, 5), 0);
    CHECK_EQ(forkless_command_terminal(c, 0), -EINVAL);
    check_sticks(c, -EINVAL, "forkless_command_terminal", 0);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_terminal(c, 0), 0);
    CHECK_EQ(forkless_command_group(c, 5), -EINVAL);
    check_sticks(c, -EINVAL, "forkless_command_group", 5);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_group(c, 5), 0);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    CHECK_EQ(forkless_command_session(c), 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

TEST(signals) {
    warm_up();
    REFUSES(-EINVAL, signal, -1, -1, FORKLESS_DEFAULT);
    REFUSES(-EINVAL, signal, 65, 65, FORKLESS_DEFAULT);
    REFUSES(-EINVAL, signal, SIGKILL, SIGKILL, FORKLESS_DEFAULT);
    REFUSES(-EINVAL, signal, SIGSTOP, SIGSTOP, FORKLESS_IGNORE);
    REFUSES(-EINVAL, signal, SIGINT, SIGINT, (enum forkless_disposition)3);
    REFUSES(-EINVAL, signal, 0, FORKLESS_ALL_SIGNALS, (enum forkless_disposition) - 1);
    REFUSES(-EINVAL, death_signal, 0, 0);
    REFUSES(-EINVAL, death_signal, -1, -1);
    REFUSES(-EINVAL, death_signal, 65, 65);
}

TEST(limits_and_scheduling) {
    warm_up();
    REFUSES(-EINVAL, rlimit, -1, -1, &one);
    REFUSES(-EINVAL, rlimit, RLIM_NLIMITS, RLIM_NLIMITS, &one);
    REFUSES(-EINVAL, rlimit, RLIMIT_CORE, RLIMIT_CORE, NULL);
    REFUSES(-EINVAL, rlimit, RLIMIT_CORE, RLIMIT_CORE, &turned);
    REFUSES(-EINVAL, nice, -1, -21);
    REFUSES(-EINVAL, nice, -1, 20);
    REFUSES(-EINVAL, scheduler, 77, 77, 0);
    REFUSES(-EINVAL, scheduler, 6, 6, 0); /* SCHED_DEADLINE */
    REFUSES(-EINVAL, scheduler, SCHED_BATCH, SCHED_BATCH, 1);
    REFUSES(-EINVAL, scheduler, SCHED_OTHER, SCHED_OTHER, -1);
    REFUSES(-EINVAL, scheduler, SCHED_FIFO, SCHED_FIFO, 0);
    REFUSES(-EINVAL, scheduler, SCHED_RR, SCHED_RR, 100);
    REFUSES(-EINVAL, affinity, -1, NULL, 8);
    REFUSES(-EINVAL, affinity, -1, no_cpu, sizeof no_cpu);
    REFUSES(-EINVAL, affinity, -1, "x", 0);
    REFUSES(-EINVAL, io_priority, -1, -1, 0);
    REFUSES(-EINVAL, io_priority, 4, 4, 0);
    REFUSES(-EINVAL, io_priority, 2, 2, 8);
    REFUSES(-EINVAL, io_priority, 2, 2, -1);
}

TEST(isolation) {
    warm_up();
    REFUSES(-EBADF, cgroup, -1, -1);
    REFUSES(-EBADF, namespace, -1, -1, CLONE_NEWNET);
    REFUSES(-EBADF, namespace, -1, -1, CLONE_NEWUSER);
    REFUSES(-EINVAL, namespace, 0, 0, 0);
    REFUSES(-EINVAL, namespace, 0, 0, CLONE_NEWNET | CLONE_NEWNS);
    REFUSES(-EINVAL, namespace, 0, 0, CLONE_VM);
    REFUSES(-ENOTSUP, namespace, 0, 0, CLONE_NEWTIME);
    REFUSES(-EINVAL, uid, -1, (uid_t)-1);
    REFUSES(-EINVAL, gid, -1, (gid_t)-1);
    REFUSES(-EINVAL, groups, -1, 1, NULL);
    REFUSES(-EINVAL, groups, -1, 2, bad_groups);
    REFUSES(-EINVAL, oom_score, -1, 1001);
    REFUSES(-EINVAL, oom_score, -1, -1001);
}

/* ---- no command, one that is in use, one that was freed ---- */

static void all_setters(forkless_command *c, int code) {
    sigemptyset(&mask);
    CHECK_EQ(forkless_command_search(c), code);
    CHECK_EQ(forkless_command_program_fd(c, 0), code);
    CHECK_EQ(forkless_command_arg(c, "x"), code);
    CHECK_EQ(forkless_command_arg0(c, "x"), code);
    CHECK_EQ(forkless_command_env(c, (char *[]){NULL}), code);
    CHECK_EQ(forkless_command_setenv(c, "A", "x"), code);
    CHECK_EQ(forkless_command_cwd(c, "/"), code);
    CHECK_EQ(forkless_command_cwd_fd(c, 0), code);
    CHECK_EQ(forkless_command_umask(c, 0), code);
    CHECK_EQ(forkless_command_fd(c, 3, 0), code);
    CHECK_EQ(forkless_command_file(c, 4, "/dev/null", O_RDONLY, 0), code);
    CHECK_EQ(forkless_command_pipe(c, 5, FORKLESS_READS), code);
    CHECK_EQ(forkless_command_memory(c, 6, "x", 1), code);
    CHECK_EQ(forkless_command_same(c, 7, 1), code);
    CHECK_EQ(forkless_command_inherit_fds(c), code);
    CHECK_EQ(forkless_command_group(c, 0), code);
    CHECK_EQ(forkless_command_session(c), code);
    CHECK_EQ(forkless_command_terminal(c, 0), code);
    CHECK_EQ(forkless_command_foreground(c, 0), code);
    CHECK_EQ(forkless_command_mask(c, &mask), code);
    CHECK_EQ(forkless_command_mask(c, NULL), code);
    CHECK_EQ(forkless_command_signal(c, SIGINT, FORKLESS_DEFAULT), code);
    CHECK_EQ(forkless_command_rlimit(c, RLIMIT_CORE, &one), code);
    CHECK_EQ(forkless_command_nice(c, 1), code);
    CHECK_EQ(forkless_command_scheduler(c, SCHED_OTHER, 0), code);
    CHECK_EQ(forkless_command_affinity(c, "x", 1), code);
    CHECK_EQ(forkless_command_io_priority(c, 2, 1), code);
    CHECK_EQ(forkless_command_no_new_privs(c), code);
    CHECK_EQ(forkless_command_death_signal(c, SIGINT), code);
    CHECK_EQ(forkless_command_cgroup(c, 0), code);
    CHECK_EQ(forkless_command_namespace(c, 0, CLONE_NEWNET), code);
    CHECK_EQ(forkless_command_uid(c, 1), code);
    CHECK_EQ(forkless_command_gid(c, 1), code);
    CHECK_EQ(forkless_command_groups(c, 0, NULL), code);
    CHECK_EQ(forkless_command_oom_score(c, 1), code);
}

TEST(no_command) {
    all_setters(NULL, -EINVAL);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], NULL, -EINVAL, FORKLESS_STEP_ARGUMENT, -1);
    forkless_command_free(NULL);
}

TEST(in_use) {
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("exit", "7", NULL);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        all_setters(c, -EBUSY);
        CHECK_EQ(forkless_command_umask(c, 01000), -EBUSY);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        forkless_command_free(c);
    }
}

/* As long as a child holds it, that is in every build. */
TEST(freed) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    forkless_command_free(c);
    all_setters(c, -EINVAL);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -EINVAL, FORKLESS_STEP_ARGUMENT, -1);
    forkless_command_free(c);
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
}

#ifdef FORKLESS_DEBUG
TEST(freed_in_a_debug_build) {
    forkless_command *used = probe("exit", "7", NULL), *unused = probe("exit", "7", NULL);
    ends(launched(forkless_spawn, used), FORKLESS_EXITED, 7);
    forkless_command_free(used);
    forkless_command_free(unused);
    for (int i = 0; i < 2; i++) {
        forkless_command *c = i ? used : unused;
        all_setters(c, -EINVAL);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, -EINVAL, FORKLESS_STEP_ARGUMENT, -1);
        forkless_command_free(c);
    }
    check_no_child();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_arguments_environment),
        cmocka_unit_test(files),
        cmocka_unit_test(b14_descriptors),
        cmocka_unit_test(descriptors_given_before),
        cmocka_unit_test(circles_and_too_many),
        cmocka_unit_test(groups_and_terminals),
        cmocka_unit_test(signals),
        cmocka_unit_test(limits_and_scheduling),
        cmocka_unit_test(isolation),
        cmocka_unit_test(no_command),
        cmocka_unit_test(in_use),
        cmocka_unit_test(freed),
#ifdef FORKLESS_DEBUG
        cmocka_unit_test(freed_in_a_debug_build),
#endif
    };
    return RUN(tests);
}
