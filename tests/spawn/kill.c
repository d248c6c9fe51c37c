/* Signals reach the child or nobody. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

TEST(kill_reaches_the_child) {
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++)
        for (int signal = 1; signal <= 64; signal += 7) {
            forkless_child *child = launched(launchers[l], c);
            CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), 0);
            CHECK_EQ(forkless_kill(child, signal, FORKLESS_CHILD), 0);
            if (signal == SIGTTOU) /* only stops it */
                CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
            ends(child, FORKLESS_KILLED, signal == SIGTTOU ? SIGKILL : signal);
        }
    forkless_command_free(c);
}

TEST(bad_signals_and_whom) {
    forkless_command *c = probe("pause", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    CHECK_EQ(forkless_kill(child, -1, FORKLESS_CHILD), -EINVAL);
    CHECK_EQ(forkless_kill(child, 65, FORKLESS_CHILD), -EINVAL);
    CHECK_EQ(forkless_kill(child, 9, (enum forkless_whom)77), -EINVAL);
    CHECK_EQ(forkless_wait(child, 0, NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, 9);
    forkless_command_free(c);
}

/* A zombie that nobody has waited for takes signals and keeps its number. */
TEST(a_zombie_is_still_the_child) {
    forkless_command *c = probe("exit", "3", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    siginfo_t info;
    CHECK_EQ(waitid(P_PID, (id_t)forkless_pid(child), &info, WEXITED | WNOWAIT), 0);
    CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), 0);
    CHECK(forkless_pidfd(child) >= 0);
    CHECK_EQ(forkless_wait(child, 0, NULL, NULL), 0);
    CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), -ESRCH);
    ends(child, FORKLESS_EXITED, 3);
    forkless_command_free(c);
}

/* ---- B66: the number is somebody else's by now ---- */

static pid_t stranger_with_pid(pid_t wanted) {
    for (int attempt = 0; attempt < 20; attempt++) {
        int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        if (fd < 0 || dprintf(fd, "%d", wanted - 1) < 0)
            skip_test("pids cannot be chosen");
        close(fd);
        pid_t pid = forked();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (pid == wanted)
            return pid;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    skip_test("pids cannot be chosen");
}

static void check_stranger_lives(pid_t stranger) {
    CHECK_EQ(waitpid(stranger, NULL, WNOHANG), 0);
    kill(stranger, SIGKILL);
    CHECK_EQ(waitpid(stranger, NULL, 0), stranger);
}

/* Reaped by our wait; or by waitpid() behind its back, when the pidfd is there; or when it is not,
 * but the number is that of no child of ours. */
enum way { WAITED, STOLEN, STOLEN_BY_NO_CHILD, WAYS };

static void reap(forkless_child *child, enum way way) {
    pid_t pid = forkless_pid(child);
    siginfo_t info;
    if (way == STOLEN)
        CHECK(forkless_pidfd(child) >= 0);
    CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL), 0);
    if (way == WAITED)
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    else
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void check_unreachable(forkless_child *child) {
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), -ESRCH);
    CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), -ESRCH);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
}

/* Lets a process have the number as its child while ours is tried. */
static void not_our_child(forkless_child *child) {
    int there[2], tried[2], status;
    char byte;
    CHECK_EQ(pipe(there), 0);
    CHECK_EQ(pipe(tried), 0);
    pid_t number = forkless_pid(child), other = forked();
    if (other == 0) {
        pid_t stranger = stranger_with_pid(number);
        CHECK_EQ(write(there[1], "x", 1), 1);
        CHECK_EQ(read(tried[0], &byte, 1), 1);
        check_stranger_lives(stranger);
        _exit(0);
    }
    CHECK_EQ(read(there[0], &byte, 1), 1);
    check_unreachable(child);
    CHECK_EQ(write(tried[1], "x", 1), 1);
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK_EQ(status, 0);
}

static void recycle(launcher *launch, enum way way) {
    forkless_command *c = probe("exit", NULL);
    forkless_child *child = launched(launch, c);
    reap(child, way);
    if (way == STOLEN_BY_NO_CHILD) {
        not_our_child(child);
    } else {
        pid_t stranger = stranger_with_pid(forkless_pid(child));
        check_unreachable(child);
        check_stranger_lives(stranger);
    }
    forkless_child_free(child);
    forkless_command_free(c);
}

/* In a namespace of its own, so that nobody else takes the number. */
static void in_pid_namespace(void (*body)(void)) {
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    pid_t init = forked();
    if (init == 0) {
        body();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(init, &status, 0), init);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        _exit(77);
    CHECK_EQ(status, 0);
}

static void recycle_all(void) {
    for (int l = 0; l < 2; l++)
        for (enum way way = WAITED; way < WAYS; way++)
            recycle(launchers[l], way);
}

TEST(b66_recycled_pid) {
    no_leak_check();
    in_pid_namespace(recycle_all);
}

static void *keep_killing(void *child) {
    int rc;
    while ((rc = forkless_kill(child, SIGKILL, FORKLESS_CHILD)) == 0)
        ;
    CHECK_EQ(rc, -ESRCH);
    return NULL;
}

TEST(b66_two_threads_wait_and_kill) {
    forkless_command *c = probe("pause", NULL);
    for (int i = 0; i < count(4000); i++) {
        forkless_child *child = launched(launchers[i % 2], c);
        pthread_t killer = thread(keep_killing, child);
        CHECK_EQ(forkless_wait(child, i % 3 ? FORKLESS_NEVER : from_now(15000), NULL, NULL), 0);
        CHECK_EQ(pthread_join(killer, NULL), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(c);
    check_no_child();
}

/* ---- B75: the kernel, or a filter, has no pidfds ---- */

static void without_pidfds(const struct rule *rule, int pidfd) {
    filter(rule, 1);
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_pidfd(child);
        CHECK_EQ(fd < 0 ? fd : 0, pidfd);
        CHECK_EQ(forkless_wait(child, from_now(10), NULL, NULL), -ETIMEDOUT);
        CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_kill(child, 65, FORKLESS_CHILD), -EINVAL);
        CHECK_EQ(forkless_kill(child, SIGTERM, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, from_now(15000), NULL, NULL), 0);
        CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), -ESRCH);
        ends(child, FORKLESS_KILLED, SIGTERM);
    }
    forkless_command_free(c);
    check_no_child();
}

TEST(b75_without_pidfds) {
    const int codes[] = {ENOSYS, EPERM, EINVAL};
    const long calls[] = {SYS_pidfd_open, SYS_pidfd_send_signal, SYS_waitid};
    for (int call = 0; call < 3; call++)
        for (int i = 0; i < 3; i++) {
            pid_t pid = forked();
            if (pid == 0) {
                struct rule rule = {calls[call], SECCOMP_RET_ERRNO | (unsigned)codes[i], 0, 0, 0};
                if (calls[call] == SYS_waitid) { /* only of P_PIDFD */
                    rule.mask = ~0u;
                    rule.value = P_PIDFD;
                }
                without_pidfds(&rule, call == 0 ? -codes[i] : 0);
                _exit(0);
            }
            int status;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            CHECK_EQ(status, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kill_reaches_the_child),        cmocka_unit_test(bad_signals_and_whom),
        cmocka_unit_test(a_zombie_is_still_the_child),   cmocka_unit_test(b66_recycled_pid),
        cmocka_unit_test(b66_two_threads_wait_and_kill), cmocka_unit_test(b75_without_pidfds),
    };
    return RUN(tests);
}
