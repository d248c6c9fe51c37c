/* Whoever waits sleeps meanwhile. */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

/* In a loop of the host's: how often it had to look. */
static int turns_of(forkless_child *child) {
    struct pollfd p = {.fd = forkless_poll_fd(child), .events = POLLIN};
    CHECK(p.fd >= 0);
    int turns = 0;
    for (; forkless_poll(child) != FORKLESS_ENDED && turns < 1000; turns++) {
        int64_t left = forkless_next_deadline(child) - forkless_deadline_in(0);
        CHECK(left < 20 * INT64_C(1000000000));
        CHECK(poll(&p, 1, left > 0 ? (int)(left / 1000000) + 1 : 0) >= 0);
    }
    return turns;
}

/* Before Linux 6.9: its child has ended, and stays a zombie until the end of grace. */
TEST(b77_group_that_is_pinned) {
    filter(&(struct rule){SYS_pidfd_send_signal, SECCOMP_RET_ERRNO | EINVAL, 3, ~0u, 4}, 1);
    forkless_command *c = shell("(trap '' TERM; sleep 60) & echo x; sleep 60");
    forkless_run_options options = {.deadline_ns = from_now(100), .grace_ns = 300000000};
    forkless_child *child;
    forkless_result r;
    CHECK_EQ(forkless_run_start(c, &options, &child, NULL), 0);
    int turns = turns_of(child);
    CHECK(turns < 50);
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    CHECK(r.timed_out);
    CHECK_EQ(r.status.code, SIGTERM);
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* ---- a child that is traced ---- */

/* It is dead for its pidfd, and for nobody to wait for until its tracer has seen it. */
static pid_t traced_to_death(pid_t pid) {
    int up[2];
    char byte;
    CHECK_EQ(pipe(up), 0);
    pid_t tracer = forked();
    if (tracer == 0) {
        CHECK_EQ(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
        CHECK_EQ(kill(pid, SIGKILL), 0);
        CHECK_EQ(write(up[1], "x", 1), 1);
        for (;;)
            pause();
    }
    CHECK_EQ(read(up[0], &byte, 1), 1);
    return tracer;
}

enum { WAIT_MS = 200, NAP_MS = 2 };

struct waiter {
    forkless_child *child;
    bool any; /* of many */
    int listener;
    bool done;
};

static void *waits(void *argument) {
    struct waiter *w = argument;
    forkless_child *const children[] = {NULL, w->child};
    int listener = filter(&(struct rule){SYS_waitid, SECCOMP_RET_USER_NOTIF, 0, 0, 0}, 1);
    __atomic_store_n(&w->listener, listener, __ATOMIC_RELEASE);
    int64_t deadline = from_now(WAIT_MS);
    CHECK_EQ(w->any ? forkless_wait_any(children, 2, deadline, NULL)
                    : forkless_wait(w->child, deadline, NULL, NULL),
             -ETIMEDOUT);
    __atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* How often it looks at the child. */
static int looks_of(struct waiter *w) {
    w->listener = -1;
    pthread_t t = thread(waits, w);
    while (__atomic_load_n(&w->listener, __ATOMIC_ACQUIRE) < 0)
        nap(50);
    struct held h = {.listener = w->listener};
    int looks = 0;
    while (!__atomic_load_n(&w->done, __ATOMIC_ACQUIRE)) {
        struct pollfd p = {.fd = h.listener, .events = POLLIN};
        if (poll(&p, 1, 10) < 1 || !(p.revents & POLLIN))
            continue;
        held_next(&h);
        held_go(&h, 0);
        looks++;
    }
    CHECK_EQ(pthread_join(t, NULL), 0);
    close(h.listener);
    return looks;
}

static void no_spin(bool run, bool any) {
    forkless_command *c = command("/bin/sleep", "60", NULL);
    struct waiter w = {.any = any};
    CHECK_EQ(run ? forkless_run_start(c, NULL, &w.child, NULL) : forkless_spawn(c, &w.child, NULL),
             0);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    pid_t tracer = traced_to_death(forkless_pid(w.child));
    struct pollfd p = {.fd = forkless_pidfd(w.child), .events = POLLIN};
    CHECK_EQ(poll(&p, 1, 20000), 1);
    int looks = looks_of(&w);
    CHECK(looks > 0 && looks <= 3 * WAIT_MS / NAP_MS);
    CHECK_EQ(kill(tracer, SIGKILL), 0);
    ends(w.child, FORKLESS_KILLED, SIGKILL);
    CHECK_EQ(waitpid(tracer, NULL, 0), tracer);
    forkless_command_free(c);
}

TEST(wait_of_a_traced_child) {
    no_spin(false, false);
}

TEST(wait_any_of_a_traced_child) {
    no_spin(false, true);
}

TEST(run_of_a_traced_child) {
    no_spin(true, false);
}

TEST(run_of_a_traced_child_in_a_loop) {
    forkless_command *c = command("/bin/sleep", "60", NULL);
    forkless_child *child;
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    struct pollfd p = {.fd = forkless_poll_fd(child), .events = POLLIN};
    pid_t tracer = traced_to_death(forkless_pid(child));
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(poll(&p, 1, 20000), 1);
        CHECK_EQ(forkless_poll(child), FORKLESS_RUNNING);
        if (forkless_next_deadline(child) != FORKLESS_NEVER)
            break;
    }
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(kill(tracer, SIGKILL), 0);
    CHECK_EQ(waitpid(tracer, NULL, 0), tracer);
    CHECK(turns_of(child) < 50);
    CHECK_EQ(poll(&p, 1, 0), 1);
    ends(child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b77_group_that_is_pinned),        cmocka_unit_test(wait_of_a_traced_child),
        cmocka_unit_test(wait_any_of_a_traced_child),      cmocka_unit_test(run_of_a_traced_child),
        cmocka_unit_test(run_of_a_traced_child_in_a_loop),
    };
    return RUN(tests);
}
