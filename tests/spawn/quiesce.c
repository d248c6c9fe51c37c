/* Quiescence, mechanisms, and handles that are no more. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* The threads that are about to, and who of them it is. */
struct quiescer {
    pthread_t thread;
    _Atomic pid_t id;
};

static void *quiesce(void *quiescer) {
    ((struct quiescer *)quiescer)->id = gettid();
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    return NULL;
}

static bool is_in_futex(pid_t id) {
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        skip_test("what a thread waits for cannot be seen");
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return atoi(text) == SYS_futex;
}

/* Returns when it waits: what is started from then on is later. */
static void quiesce_begin(struct quiescer *q) {
    q->id = 0;
    q->thread = thread(quiesce, q);
    while (q->id == 0 || !is_in_futex(q->id))
        nap(100);
}

/* A start whose child stands before its exec. */
static struct held held_start(const forkless_command *c) {
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    return h;
}

static bool waits(pthread_t t) {
    return pthread_tryjoin_np(t, NULL) == EBUSY;
}

/* Those that failed and whose handle is freed are reaped. */
TEST(b30_failures_that_nobody_waits_for) {
    forkless_command *c = command("/nonexistent", NULL);
    for (int i = 0; i < 20; i++)
        forkless_child_free(launched(forkless_start, c));
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    check_no_child();
    forkless_command_free(c);
}

TEST(nothing_to_wait_for) {
    CHECK_EQ(forkless_quiesce(0), 0);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    forkless_command *c = probe("pause", NULL), *bad = command("/nonexistent", NULL);
    forkless_child *child = launched(forkless_spawn, c); /* past its exec, if alive */
    CHECK_EQ(forkless_quiesce(0), 0);
    fails(forkless_spawn, bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    fails(forkless_start, bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    CHECK_EQ(forkless_quiesce(0), 0);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
    forkless_command_free(bad);
}

TEST(one_before_its_exec) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = held_start(c);
    const int64_t deadlines[] = {0, -1, INT64_MIN, from_now(-1000), from_now(30)};
    for (int i = 0; i < 5; i++)
        CHECK_EQ(forkless_quiesce(deadlines[i]), -ETIMEDOUT);
    CHECK(from_now(0) >= deadlines[4]);
    held_go(&h, 0);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    CHECK_EQ(forkless_quiesce(0), 0);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* However the child gets out of our memory. */
enum way { GOES_ON, FAILS, IS_KILLED, IS_ABANDONED, WAYS };

static void many_quiescers(enum way way) {
    struct quiescer quiescers[8];
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = held_start(c);
    for (int i = 0; i < 8; i++)
        quiesce_begin(&quiescers[i]);
    if (way == IS_ABANDONED) {
        forkless_command_free(c);
        forkless_child_free(h.child);
    }
    for (int i = 0; i < 8; i++)
        CHECK(waits(quiescers[i].thread));
    if (way == IS_KILLED)
        CHECK_EQ(kill(h.pid, SIGKILL), 0);
    else
        held_go(&h, way == FAILS ? -ENOENT : 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(quiescers[i].thread, NULL), 0);
    if (way == IS_ABANDONED) {
        CHECK_EQ(waitpid(h.pid, NULL, 0), h.pid);
        return;
    }
    if (way == FAILS) {
        CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, NULL, NULL), -ENOENT);
        forkless_child_free(h.child);
    } else {
        ends(h.child, way == GOES_ON ? FORKLESS_EXITED : FORKLESS_KILLED, way == GOES_ON ? 7 : 9);
    }
    forkless_command_free(c);
}

TEST(all_who_wait_are_woken) {
    for (int i = 0; i < count(100); i++)
        for (enum way way = GOES_ON; way < WAYS; way++)
            many_quiescers(way);
}

TEST(several_before_their_exec) {
    enum { MANY = 20 };
    struct held all[MANY];
    forkless_command *c = probe("exit", "7", NULL);
    for (int i = 0; i < MANY; i++)
        all[i] = held_start(c);
    struct quiescer q;
    quiesce_begin(&q);
    for (int i = MANY - 1; i >= 0; i--) {
        nap(1000);
        CHECK(waits(q.thread));
        CHECK_EQ(forkless_quiesce(0), -ETIMEDOUT);
        held_go(&all[i], 0);
    }
    CHECK_EQ(pthread_join(q.thread, NULL), 0);
    for (int i = 0; i < MANY; i++)
        ends(all[i].child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* In another slot, or in the very one that is waited for. */
static void started_later(bool same_slot) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held first = held_start(c), later = {0};
    struct quiescer q;
    quiesce_begin(&q);
    if (!same_slot)
        later = held_start(c);
    CHECK(waits(q.thread));
    held_go(&first, 0);
    ends(first.child, FORKLESS_EXITED, 7);
    if (same_slot) {
        later = held_start(c);
        CHECK(later.child == first.child);
    }
    CHECK_EQ(pthread_join(q.thread, NULL), 0);
    CHECK_EQ(forkless_quiesce(0), -ETIMEDOUT);
    held_go(&later, 0);
    ends(later.child, FORKLESS_EXITED, 7);
    CHECK_EQ(forkless_quiesce(0), 0);
    forkless_command_free(c);
}

TEST(those_started_later_do_not_matter) {
    for (int i = 0; i < count(200); i++)
        started_later(i % 2);
}

static void *start_for_ever(void *command) {
    for (int i = 0; i < count(3000); i++)
        ends(launched(forkless_start, command), FORKLESS_EXITED, 7);
    return NULL;
}

TEST(beside_a_storm_of_starts) {
    pthread_t threads[4];
    forkless_command *c = probe("exit", "7", NULL);
    for (int i = 0; i < 4; i++)
        threads[i] = thread(start_for_ever, c);
    for (int i = 0; i < count(3000); i++)
        CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(forkless_quiesce(0), 0);
    forkless_command_free(c);
}

/* ---- mechanisms ---- */

static void check_mechanisms(const forkless_command *c, enum forkless_mechanism first) {
    static const enum forkless_mechanism asked[2] = {FORKLESS_CLONE3_VFORK, FORKLESS_CLONE3_VM};
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        CHECK_EQ(forkless_mechanism_asked(child), asked[l]);
        CHECK_EQ(forkless_mechanism(child), asked[l] > first ? asked[l] : first);
        ends(child, FORKLESS_EXITED, 7);
    }
}

TEST(asked_and_used) {
    const int bad[] = {0, -1, 4, 100};
    forkless_command *c = probe("exit", "7", NULL);
    check_mechanisms(c, FORKLESS_CLONE3_VM);
    for (int m = FORKLESS_CLONE_VFORK; m >= FORKLESS_CLONE3_VM; m--) {
        CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)m), 0);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(forkless_mechanism_limit((enum forkless_mechanism)bad[i]), -EINVAL);
        check_mechanisms(c, (enum forkless_mechanism)m);
    }
    refuse(SYS_clone3, ENOSYS);
    check_mechanisms(c, FORKLESS_CLONE_VFORK);
    CHECK_EQ(forkless_mechanism(NULL), 0);
    CHECK_EQ(forkless_mechanism_asked(NULL), 0);
    forkless_command_free(c);
}

/* ---- handles that are no more ---- */

static void is_no_child(forkless_child *child, int code) {
    forkless_error error;
    forkless_status status;
    CHECK_EQ(forkless_pid(child), -EINVAL);
    CHECK_EQ(forkless_mechanism(child), 0);
    CHECK_EQ(forkless_mechanism_asked(child), 0);
    CHECK_EQ(forkless_pidfd(child), code);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), code);
    CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), code);
    CHECK_EQ(forkless_child_pipe(child, 0), code == -EINVAL ? -EINVAL : -EBADF);
    for (int never = 0; never < 2; never++) {
        int rc = forkless_wait(child, never ? FORKLESS_NEVER : 0, &status, &error);
        CHECK_EQ(rc, code == -EINVAL ? -EINVAL : -ECHILD);
        CHECK_EQ(error.code, rc);
        CHECK_EQ(error.step, code == -EINVAL ? FORKLESS_STEP_ARGUMENT : FORKLESS_STEP_WAIT);
        CHECK_EQ(status.how, 0);
    }
    forkless_child_free(child);
}

TEST(freed_handles) {
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
    for (int l = 0; l < 2; l++)
        for (int waited = 0; waited < 2; waited++) {
            forkless_child *child = launched(launchers[l], c);
            pid_t pid = forkless_pid(child);
            if (waited) {
                CHECK_EQ(close(forkless_child_pipe(child, 0)), 0);
                CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
            }
            for (int i = 0; i < 3; i++) {
                forkless_child_free(child);
                is_no_child(child, -EINVAL);
            }
            if (!waited) { /* its end of the pipe is closed, and nobody killed it */
                int status;
                while (waitpid(pid, &status, 0) < 0)
                    CHECK_EQ(errno, ECHILD); /* it has not exec'd yet */
                CHECK_EQ(status, 0);
            }
            forkless_child *two[2] = {launched(launchers[l], c), launched(launchers[l], c)};
            CHECK(two[0] != two[1]); /* it was not given back twice */
            for (int i = 0; i < 2; i++) {
                CHECK_EQ(close(forkless_child_pipe(two[i], 0)), 0);
                ends(two[i], FORKLESS_EXITED, 0);
            }
        }
    forkless_command_free(c);
    check_no_child();
}

TEST(handles_that_came_through_a_fork) {
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
    forkless_child *child = launched(forkless_start, c);
    pid_t pid = forked();
    if (pid == 0) {
        for (int i = 0; i < 2; i++)
            is_no_child(child, -ESRCH);
        CHECK_EQ(forkless_quiesce(0), 0);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(forkless_wait(child, 0, NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(close(forkless_child_pipe(child, 0)), 0);
    ends(child, FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b30_failures_that_nobody_waits_for),
        cmocka_unit_test(nothing_to_wait_for),
        cmocka_unit_test(one_before_its_exec),
        cmocka_unit_test(all_who_wait_are_woken),
        cmocka_unit_test(several_before_their_exec),
        cmocka_unit_test(those_started_later_do_not_matter),
        cmocka_unit_test(beside_a_storm_of_starts),
        cmocka_unit_test(asked_and_used),
        cmocka_unit_test(freed_handles),
        cmocka_unit_test(handles_that_came_through_a_fork),
    };
    return RUN(tests);
}
