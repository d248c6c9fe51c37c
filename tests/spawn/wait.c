/* Waiting: how a child ended, told to whoever asks, whoever else may have reaped it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

TEST(exit_status) {
    for (int code = 0; code < 256; code += 5) {
        char text[8];
        snprintf(text, sizeof text, "%d", code);
        forkless_command *c = probe("exit", text, NULL);
        ends(launched(launchers[code % 2], c), FORKLESS_EXITED, code);
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(signals_and_cores) {
    const struct rlimit none = {0, 0};
    CHECK_EQ(setrlimit(RLIMIT_CORE, &none), 0);
    const int signals[] = {SIGTERM, SIGKILL, SIGABRT, SIGSEGV, SIGPIPE, 34, 64};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", signals[i]);
        forkless_command *c = probe("raise", text, NULL);
        for (int l = 0; l < 2; l++) {
            forkless_status status;
            forkless_child *child = launched(launchers[l], c);
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
            CHECK_EQ(status.how, FORKLESS_KILLED);
            CHECK_EQ(status.code, signals[i]);
            CHECK(status.execed && !status.dumped);
            forkless_child_free(child);
        }
        forkless_command_free(c);
    }
}

TEST(the_answer_stays) {
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *child = launched(forkless_start, c);
    for (int i = 0; i < 4; i++) {
        forkless_status status;
        CHECK_EQ(forkless_wait(child, i % 2 ? 0 : FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_EXITED);
        CHECK_EQ(status.code, 7);
        CHECK(status.execed && status.usage.ru_maxrss > 0);
    }
    CHECK_EQ(forkless_wait(child, 0, NULL, NULL), 0);
    forkless_child_free(child);
    forkless_command_free(c);
    check_no_child();
}

TEST(deadlines) {
    forkless_command *c = probe("pause", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    forkless_error error;
    const int64_t deadlines[] = {0, -1, INT64_MIN, 1, from_now(-1000), from_now(30)};
    for (size_t i = 0; i < 6; i++) {
        forkless_status status;
        memset(&status, 1, sizeof status);
        CHECK_EQ(forkless_wait(child, deadlines[i], &status, &error), -ETIMEDOUT);
        CHECK_EQ(error.step, FORKLESS_STEP_WAIT);
        CHECK_EQ(status.how, 0);
    }
    CHECK(from_now(0) >= deadlines[5]);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER - 1, NULL, &error), 0);
    CHECK_EQ(error.code, 0);
    ends(child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
}

static void *wait_in_thread(void *child) {
    forkless_status status;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    return NULL;
}

static void *wait_with_deadline(void *child) {
    forkless_status status;
    CHECK_EQ(forkless_wait(child, from_now(15000), &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    return NULL;
}

TEST(several_threads_wait_for_one_child) {
    forkless_command *c = probe("pause", NULL);
    for (int round = 0; round < count(400); round++) {
        pthread_t threads[6];
        forkless_child *child = launched(launchers[round % 2], c);
        for (int i = 0; i < 6; i++)
            threads[i] = thread(i % 2 ? wait_in_thread : wait_with_deadline, child);
        nap(round * 100);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        for (int i = 0; i < 6; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

/* ---- B66: two wait, and what one has reaped is a stranger's number for the other ---- */

static void *wait_in_naps(void *child) {
    CHECK_EQ(forkless_wait(child, from_now(5000), NULL, NULL), 0);
    return NULL;
}

static pid_t stranger_with(pid_t number) {
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || dprintf(fd, "%d", number - 1) < 0)
        skip_test("pids cannot be chosen");
    close(fd);
    pid_t pid = forked();
    while (pid == 0)
        pause();
    return pid;
}

static void reaped_by_another(int rounds) {
    refuse(SYS_pidfd_open, ENOSYS);
    forkless_command *c = probe("pause", NULL);
    for (int i = 0; i < rounds; i++) {
        forkless_child *child = launched(forkless_spawn, c);
        pthread_t waiter = thread(wait_in_naps, child);
        nap(5000 + 130 * i);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        pid_t stranger = stranger_with(forkless_pid(child));
        CHECK_EQ(pthread_join(waiter, NULL), 0);
        kill(stranger, SIGKILL);
        CHECK_EQ(waitpid(stranger, NULL, 0), stranger);
        forkless_child_free(child);
    }
    forkless_command_free(c);
}

TEST(b66_waited_for_by_another_thread) {
    no_leak_check();
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    in_process(reaped_by_another, count(400));
}

/* ---- B64, B65: others reap ---- */

/* The kernel may still know it, by a pidfd from before the end. */
static bool kept_or_unknown(const forkless_status *status, enum forkless_how how, int code) {
    return (status->how == how && status->code == code) ||
           (status->how == FORKLESS_UNKNOWN && status->code == 0);
}

static void status_is_lost(launcher *launch) {
    forkless_command *c = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    for (int i = 0; i < count(600); i++) {
        int way = i % 3;
        forkless_status status;
        forkless_child *child = launched(launch, c);
        if (way == 1)
            forkless_pidfd(child);
        int64_t deadline = way == 2 ? from_now(15000) : FORKLESS_NEVER;
        CHECK_EQ(forkless_wait(child, deadline, &status, NULL), 0);
        CHECK(kept_or_unknown(&status, FORKLESS_EXITED, 7));
        CHECK(status.execed);
        CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), -ESRCH);
        forkless_child_free(child);
    }
    fails(launch, bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    forkless_command_free(bad);
    forkless_command_free(c);
    check_no_child();
}

TEST(b64_sigchld_ignored) {
    signal(SIGCHLD, SIG_IGN);
    for (int l = 0; l < 2; l++)
        status_is_lost(launchers[l]);
}

TEST(b64_no_child_wait) {
    const struct sigaction a = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    CHECK_EQ(sigaction(SIGCHLD, &a, NULL), 0);
    for (int l = 0; l < 2; l++)
        status_is_lost(launchers[l]);
}

TEST(b64_ignored_after_the_start) {
    forkless_command *c = probe("pause", NULL);
    forkless_status status;
    forkless_child *child = launched(forkless_spawn, c);
    signal(SIGCHLD, SIG_IGN);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK(kept_or_unknown(&status, FORKLESS_KILLED, SIGKILL));
    forkless_child_free(child);
    forkless_command_free(c);
}

struct info { /* struct pidfd_info */
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

/* As the kernel itself has it (Linux 6.15). */
static bool kernel_keeps_status(void) {
    struct info info = {.mask = 8};
    pid_t pid = forked();
    if (pid == 0)
        _exit(7);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    int rc = ioctl(fd, _IOWR(0xff, 11, struct info), &info);
    close(fd);
    return rc == 0 && (info.mask & 8);
}

/* Somebody else reaps it, be it the kernel; the pidfd is from before, or of a wait that waits. */
TEST(b64_b65_status_is_kept_by_the_kernel) {
    if (!kernel_keeps_status())
        skip_test("the kernel keeps no status for a pidfd");
    for (int way = 0; way < 8; way++) {
        forkless_status status;
        signal(SIGCHLD, way & 1 ? SIG_IGN : SIG_DFL);
        forkless_command *c = way & 2 ? probe("pause", NULL) : probe("exit", "7", NULL);
        forkless_child *child = launched(launchers[way / 4], c);
        CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
        if (way & 2) {
            CHECK_EQ(forkless_wait(child, from_now(1), NULL, NULL), -ETIMEDOUT);
            CHECK_EQ(forkless_kill(child, SIGUSR2, FORKLESS_CHILD), 0);
        } else if (forkless_pidfd(child) < 0) { /* it was quicker */
            forkless_child_free(child);
            forkless_command_free(c);
            continue;
        }
        if (!(way & 1))
            CHECK_EQ(waitpid(forkless_pid(child), NULL, 0), forkless_pid(child));
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, way & 2 ? FORKLESS_KILLED : FORKLESS_EXITED);
        CHECK_EQ(status.code, way & 2 ? SIGUSR2 : 7);
        CHECK(status.execed);
        CHECK_EQ(status.usage.ru_maxrss, 0);
        forkless_child_free(child);
        forkless_command_free(c);
    }
    check_no_child();
}

static atomic_bool done;

/* Whatever the host can get hold of. */
static void *steal(void *stolen) {
    while (!done) {
        if (waitpid(-1, NULL, 0) > 0)
            atomic_fetch_add((atomic_int *)stolen, 1);
        else
            nap(20);
    }
    return NULL;
}

TEST(b65_host_reaps_everything) {
    atomic_int stolen = 0;
    pthread_t thief = thread(steal, &stolen);
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    int reaped = 0;
    for (int i = 0; i < count(10000); i++) {
        forkless_status status;
        forkless_child *child = launched(launchers[i % 2], good);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK(kept_or_unknown(&status, FORKLESS_EXITED, 7));
        CHECK(status.execed);
        reaped += status.usage.ru_maxrss > 0; /* by us */
        forkless_child_free(child);
        fails(launchers[i % 2], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    }
    done = true;
    CHECK_EQ(pthread_join(thief, NULL), 0);
    CHECK_EQ(stolen + reaped, count(10000));
    forkless_command_free(good);
    forkless_command_free(bad);
}

TEST(b65_library_reaps_no_stranger) {
    no_leak_check();
    pid_t strangers[100];
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    for (int i = 0; i < 100; i++) {
        strangers[i] = forked();
        if (strangers[i] == 0)
            _exit(i);
        ends(launched(launchers[i % 2], good), FORKLESS_EXITED, 7);
        fails(launchers[i % 2], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
        forkless_child_free(launched(forkless_start, bad));
    }
    for (int i = 0; i < 100; i++) {
        int status;
        CHECK_EQ(waitpid(strangers[i], &status, 0), strangers[i]);
        CHECK_EQ(WEXITSTATUS(status), i);
    }
    forkless_command_free(good);
    forkless_command_free(bad);
}

/* ---- pidfds ---- */

TEST(pidfd_polls) {
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_pidfd(child);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        CHECK(fd >= 0);
        CHECK_EQ(forkless_pidfd(child), fd);
        CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
        CHECK_EQ(poll(&p, 1, 10), 0);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(poll(&p, 1, 15000), 1);
        CHECK_EQ(forkless_wait(child, 0, NULL, NULL), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
        CHECK_EQ(fcntl(fd, F_GETFD), -1);
        CHECK_EQ(errno, EBADF);
    }
    forkless_command_free(c);
}

TEST(pidfd_of_one_that_is_gone) {
    forkless_command *c = probe("exit", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    forkless_child_free(child);
    child = launched(forkless_spawn, c);
    CHECK_EQ(waitpid(forkless_pid(child), NULL, 0), forkless_pid(child));
    CHECK_EQ(forkless_pidfd(child), -ESRCH);
    CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), -ESRCH);
    ends(child, FORKLESS_UNKNOWN, 0);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_status),
        cmocka_unit_test(signals_and_cores),
        cmocka_unit_test(the_answer_stays),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(several_threads_wait_for_one_child),
        cmocka_unit_test(b66_waited_for_by_another_thread),
        cmocka_unit_test(b64_sigchld_ignored),
        cmocka_unit_test(b64_no_child_wait),
        cmocka_unit_test(b64_ignored_after_the_start),
        cmocka_unit_test(b64_b65_status_is_kept_by_the_kernel),
        cmocka_unit_test(b65_host_reaps_everything),
        cmocka_unit_test(b65_library_reaps_no_stranger),
        cmocka_unit_test(pidfd_polls),
        cmocka_unit_test(pidfd_of_one_that_is_gone),
    };
    return RUN(tests);
}
