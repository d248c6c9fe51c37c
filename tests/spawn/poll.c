/* Children in an event loop, and one of many. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

/* ---- how far a child is ---- */

TEST(states) {
    forkless_command *c = probe("pause", NULL);
    struct held held = {.command = c, .launch = forkless_start, .number = SYS_execve};
    pid_t pid = forked();
    if (pid == 0) {
        held_begin(&held);
        held_join(&held);
        CHECK_EQ(held.rc, 0);
        CHECK_EQ(forkless_poll(held.child), FORKLESS_PENDING);
        held_go(&held, 0);
        CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
        CHECK_EQ(forkless_poll(held.child), FORKLESS_RUNNING);
        CHECK_EQ(forkless_kill(held.child, SIGKILL, FORKLESS_CHILD), 0);
        struct pollfd p = {.fd = forkless_poll_fd(held.child), .events = POLLIN};
        CHECK_EQ(poll(&p, 1, 15000), 1);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(forkless_poll(held.child), FORKLESS_ENDED);
            CHECK_EQ(forkless_wait(held.child, 0, NULL, NULL), 0);
        }
        CHECK_EQ(forkless_next_deadline(held.child), FORKLESS_NEVER);
        forkless_child_free(held.child);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    forkless_command_free(c);
}

/* By forkless-exec the first exec is not the one that counts. */
TEST(states_of_a_helped_child) {
    with_helper();
    forkless_command *good = probe("pause", NULL), *bad = command("/nonexistent", NULL);
    CHECK_EQ(forkless_command_oom_score(good, 100), 0);
    CHECK_EQ(forkless_command_oom_score(bad, 100), 0);
    for (int i = 0; i < 20; i++) {
        forkless_error error;
        forkless_child *child = launched(forkless_start, good);
        int state;
        while ((state = forkless_poll(child)) == FORKLESS_PENDING)
            nap(100);
        CHECK_EQ(state, FORKLESS_RUNNING);
        CHECK_EQ(forkless_kill(child, SIGTERM, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, SIGTERM);
        child = launched(forkless_start, bad);
        while ((state = forkless_poll(child)) != FORKLESS_ENDED)
            CHECK(state == FORKLESS_PENDING || state == FORKLESS_RUNNING);
        CHECK_EQ(forkless_wait(child, 0, NULL, &error), -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        forkless_child_free(child);
        child = launched(forkless_spawn, good);
        CHECK_EQ(forkless_poll(child), FORKLESS_RUNNING);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(good);
    forkless_command_free(bad);
    check_no_child();
}

TEST(bad_handles) {
    forkless_command *c = probe("pause", NULL);
    forkless_child *child = launched(forkless_spawn, c), *none[2] = {NULL, NULL};
    CHECK_EQ(forkless_poll(NULL), -EINVAL);
    CHECK_EQ(forkless_poll_fd(NULL), -EINVAL);
    CHECK_EQ(forkless_next_deadline(NULL), FORKLESS_NEVER);
    CHECK_EQ(forkless_wait_any(NULL, 0, 0, NULL), -EINVAL);
    CHECK_EQ(forkless_wait_any(NULL, 3, 0, NULL), -EINVAL);
    CHECK_EQ(forkless_wait_any(none, 2, 0, NULL), -EINVAL);
    CHECK_EQ(forkless_wait_any(&child, 0, 0, NULL), -EINVAL);
    pid_t pid = forked();
    if (pid == 0) {
        CHECK_EQ(forkless_poll(child), -ECHILD);
        CHECK_EQ(forkless_poll_fd(child), -ESRCH);
        CHECK_EQ(forkless_wait_any(&child, 1, 0, NULL), -ECHILD);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_GROUP), -ESRCH);
        forkless_result result;
        CHECK_EQ(forkless_run_result(child, &result, NULL), -ECHILD);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    forkless_child *freed = child;
    ends(child, FORKLESS_KILLED, SIGKILL);
    CHECK_EQ(forkless_poll(freed), -EINVAL);
    CHECK_EQ(forkless_wait_any(&freed, 1, 0, NULL), -EINVAL);
    forkless_command_free(c);
}

TEST(deadlines) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    CHECK(forkless_deadline_in(-1) >= now); /* not 0: a run takes that for none */
    CHECK(forkless_deadline_in(INT64_MIN) <= forkless_deadline_in(0));
    CHECK(forkless_deadline_in(1000000000) >= now + 1000000000);
    CHECK_EQ(forkless_deadline_in(FORKLESS_NEVER), FORKLESS_NEVER);
    CHECK_EQ(forkless_deadline_in(FORKLESS_NEVER - 1), FORKLESS_NEVER);
}

/* ---- one of many ---- */

static void wait_for_each(size_t n, bool runs) {
    forkless_command *c = probe("pause", NULL);
    forkless_child **children = calloc(n, sizeof *children);
    for (size_t i = 0; i < n; i++) {
        children[i] = NULL;
        if (runs)
            CHECK_EQ(forkless_run_start(c, NULL, &children[i], NULL), 0);
        else
            children[i] = launched(launchers[i % 2], c);
    }
    size_t which = 12345;
    CHECK_EQ(forkless_wait_any(children, n, 0, &which), -ETIMEDOUT);
    CHECK_EQ(forkless_wait_any(children, n, from_now(5), &which), -ETIMEDOUT);
    CHECK_EQ(which, 12345);
    for (size_t left = n; left > 0; left--) {
        size_t victim = left * 7919 % n;
        while (!children[victim])
            victim = (victim + 1) % n;
        CHECK_EQ(forkless_kill(children[victim], SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(
            forkless_wait_any(children, n, left % 2 ? FORKLESS_NEVER : from_now(15000), &which), 0);
        CHECK_EQ(which, victim);
        CHECK_EQ(forkless_poll(children[which]), FORKLESS_ENDED);
        ends(children[which], FORKLESS_KILLED, SIGKILL);
        children[which] = NULL;
    }
    free(children);
    forkless_command_free(c);
    check_no_child();
}

TEST(one_of_many) {
    wait_for_each(1, false);
    wait_for_each(31, false);
    wait_for_each(100, false);
    wait_for_each(40, true);
}

TEST(b75_one_of_many_without_pidfds) {
    refuse(SYS_pidfd_open, ENOSYS);
    wait_for_each(5, false);
    wait_for_each(40, true);
}

TEST(b38_one_of_many_without_descriptors) {
    refuse(SYS_pidfd_open, EMFILE);
    refuse(SYS_epoll_create1, EMFILE);
    wait_for_each(5, false);
    wait_for_each(5, true);
}

/* ---- B64: a host's loop neither spins nor hangs ---- */

/* Until it has ended: how often the loop went round. */
static int turns(forkless_child *child) {
    int epoll = epoll_create1(EPOLL_CLOEXEC), turns = 0, fd = forkless_poll_fd(child);
    struct epoll_event event = {.events = EPOLLIN};
    if (fd >= 0)
        CHECK_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
    while (forkless_poll(child) != FORKLESS_ENDED) {
        int64_t next = forkless_next_deadline(child);
        int64_t now = forkless_deadline_in(1);
        int ms = next == FORKLESS_NEVER ? 20000
                 : next > now           ? (int)((next - now) / 1000000) + 1
                                        : 0;
        CHECK(epoll_wait(epoll, &event, 1, ms) >= 0);
        turns++;
    }
    close(epoll);
    return turns;
}

TEST(b64_loop_of_a_child) {
    for (int ignored = 0; ignored < 2; ignored++)
        for (int l = 0; l < 2; l++) {
            signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
            forkless_command *c = command("/bin/sleep", "0.05", NULL);
            forkless_child *child = launched(launchers[l], c);
            CHECK(turns(child) < 10);
            CHECK_EQ(forkless_wait(child, 0, NULL, NULL), 0);
            forkless_child_free(child);
            forkless_command_free(c);
        }
}

/* The end comes long before that of its output, and its pidfd can be read all that time. */
TEST(b64_loop_of_a_run_with_writers_left) {
    forkless_command *c = command("/bin/sh", "-c", "sleep 0.3 & exit 3", NULL);
    for (int ignored = 0; ignored < 2; ignored++) {
        forkless_child *child;
        forkless_result result;
        signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
        CHECK_EQ(forkless_run_start(c, &(forkless_run_options){.linger_ns = FORKLESS_NEVER}, &child,
                                    NULL),
                 0);
        CHECK(turns(child) < 20);
        CHECK_EQ(forkless_run_result(child, &result, NULL), 0);
        CHECK(!result.writers_remained);
        forkless_result_free(&result);
        CHECK_EQ(forkless_run_result(child, &result, NULL), -EBADF);
        forkless_child_free(child);
    }
    forkless_command_free(c);
}

/* Another thread has come to the end of it first: who only watches the descriptor still learns. */
TEST(descriptor_of_a_run_that_is_over) {
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *child;
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    struct pollfd p = {.fd = forkless_poll_fd(child), .events = POLLIN};
    CHECK(p.fd >= 3);
    CHECK_EQ(fcntl(p.fd, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(poll(&p, 1, 0), 1);
    CHECK(forkless_next_deadline(child) <= forkless_deadline_in(1));
    ends(child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* A fork of the host's copies everything; its copies must not keep our loop awake. */
TEST(loop_beside_a_fork_of_the_host) {
    forkless_command *c = command("/bin/sh", "-c", "exec >&- 2>&-; sleep 0.3", NULL);
    forkless_child *child;
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    CHECK(forkless_poll_fd(child) >= 0);
    pid_t pid = forked();
    if (pid == 0)
        for (;;)
            pause();
    CHECK(turns(child) < 20);
    ends(child, FORKLESS_EXITED, 0);
    kill(pid, SIGKILL);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(states_of_a_helped_child),
        cmocka_unit_test(bad_handles),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(one_of_many),
        cmocka_unit_test(b75_one_of_many_without_pidfds),
        cmocka_unit_test(b38_one_of_many_without_descriptors),
        cmocka_unit_test(b64_loop_of_a_child),
        cmocka_unit_test(b64_loop_of_a_run_with_writers_left),
        cmocka_unit_test(descriptor_of_a_run_that_is_over),
        cmocka_unit_test(loop_beside_a_fork_of_the_host),
    };
    return RUN(tests);
}
