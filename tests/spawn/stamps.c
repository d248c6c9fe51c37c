/* When things happened to a child, and who is told that it took long. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static forkless_stamps stamps_of(const forkless_child *child) {
    forkless_stamps s;
    CHECK_EQ(forkless_child_stamps(child, &s), 0);
    return s;
}

/* Emulators and valgrind hide it. */
static bool has_vdso(void) {
    return getauxval(AT_SYSINFO_EHDR) != 0;
}

/* In this order, those that are known. */
static void check_order(const forkless_stamps *s) {
    const int64_t order[] = {s->asked, s->set_up, s->exec_called, s->execed, s->exited};
    int64_t last = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != 0) {
            CHECK(order[i] >= last);
            last = order[i];
        }
    CHECK(s->asked > 0);
    CHECK(s->created >= s->asked);
    CHECK(last <= from_now(0));
    CHECK(!has_vdso() || s->exec_called == 0 || s->set_up > 0);
}

/* ---- stamps ---- */

static void in_order(const struct route *route) {
    forkless_command *c = probe("exit", "7", NULL);
    int64_t before = from_now(0);
    forkless_child *child = launched_so(route, c);
    forkless_stamps s = stamps_of(child);
    CHECK(s.asked >= before);
    CHECK_EQ(s.exited, 0);
    CHECK_EQ(s.execed != 0, route->used != FORKLESS_CLONE3_VM);
    if (s.execed && has_vdso())
        CHECK(s.set_up != 0 && s.exec_called != 0);
    check_order(&s);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    s = stamps_of(child);
    CHECK(s.execed != 0 && s.exited != 0);
    CHECK_EQ(s.set_up != 0, has_vdso());
    CHECK_EQ(s.exec_called != 0, has_vdso());
    check_order(&s);
    int64_t exited = s.exited;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(stamps_of(child).exited, exited);
    forkless_child_free(child);
    forkless_command_free(c);
}

TEST(stamps_are_in_order) {
    on_each_route(in_order);
}

/* ---- a child that is held up ---- */

/* One whose set-up opens a FIFO, which takes until there is a writer. */
static forkless_command *behind_fifo(void) {
    forkless_command *c = probe("exit", "7", NULL);
    unlink("stamps.fifo");
    CHECK_EQ(mkfifo("stamps.fifo", 0600), 0);
    CHECK_EQ(forkless_command_file(c, 0, "stamps.fifo", O_RDONLY, 0), 0);
    return c;
}

/* Waits for the reader, if it is not there yet. */
static void open_fifo(void) {
    int fd = open("stamps.fifo", O_WRONLY);
    CHECK(fd >= 0);
    close(fd);
}

/* How far a child has come is seen from outside, whatever holds it. */
static void await_set_up(const forkless_child *child) {
    while (has_vdso() && stamps_of(child).set_up == 0)
        nap(100);
}

TEST(what_holds_a_child_is_seen) {
    forkless_command *c = behind_fifo();
    forkless_child *child = launched(forkless_start, c);
    await_set_up(child);
    forkless_stamps s = stamps_of(child);
    CHECK_EQ(s.exec_called, 0);
    CHECK_EQ(s.execed, 0);
    check_order(&s);
    int64_t opened = from_now(0);
    open_fifo();
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    s = stamps_of(child);
    if (has_vdso())
        CHECK(s.set_up < opened && s.exec_called > opened);
    CHECK(s.execed > opened);
    check_order(&s);
    ends(child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* ---- children that never exec ---- */

static void killed_at(launcher *launch, long number, bool in_exec) {
    forkless_command *c = probe("exit", NULL);
    struct held h = {.command = c, .launch = launch, .number = number};
    held_begin(&h);
    CHECK_EQ(kill(h.pid, SIGKILL), 0);
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    forkless_stamps s = stamps_of(h.child);
    CHECK(in_exec || s.execed == 0 || !has_vdso());
    CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, NULL, NULL), 0);
    s = stamps_of(h.child);
    CHECK_EQ(s.execed, 0);
    CHECK_EQ(s.exec_called != 0, in_exec && has_vdso());
    CHECK(s.exited != 0);
    check_order(&s);
    forkless_child_free(h.child);
    forkless_command_free(c);
    close(h.listener);
}

TEST(killed_before_exec) {
    for (int l = 0; l < 2; l++) {
        killed_at(launchers[l], SYS_close_range, false);
        killed_at(launchers[l], SYS_execve, true);
    }
}

TEST(exec_that_fails) {
    forkless_command *c = command("/nonexistent", NULL);
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), -ENOENT);
    forkless_stamps s = stamps_of(child);
    CHECK_EQ(s.execed, 0);
    CHECK(s.exited != 0);
    CHECK_EQ(s.exec_called != 0, has_vdso());
    check_order(&s);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* ---- the hook ---- */

struct calls {
    atomic_int count;
    forkless_child *child;
    forkless_stamps stamps;
    void (*act)(forkless_child *);
};

static void note(forkless_child *child, const forkless_stamps *stamps, void *host) {
    struct calls *calls = host;
    calls->child = child;
    calls->stamps = *stamps;
    calls->count++;
    errno = EXDEV;
    if (calls->act)
        calls->act(child);
}

static void with_hook(forkless_command *c, int64_t longer_than_ns, struct calls *calls) {
    CHECK_EQ(forkless_command_slow_start(c, longer_than_ns, note, calls), 0);
}

static void once_each(const struct route *route) {
    struct calls calls = {0};
    forkless_command *c = probe("exit", "7", NULL);
    with_hook(c, 0, &calls);
    for (int i = 1; i <= 3; i++) {
        errno = ENOTTY;
        forkless_child *child = launched_so(route, c);
        CHECK_EQ(calls.count, route->used == FORKLESS_CLONE3_VM ? i - 1 : i);
        for (int again = 0; again < 2; again++)
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        CHECK_EQ(errno, ENOTTY);
        CHECK_EQ(calls.count, i);
        CHECK(calls.child == child);
        CHECK_EQ(calls.stamps.asked, stamps_of(child).asked);
        check_order(&calls.stamps);
        forkless_child_free(child);
    }
    forkless_command_free(c);
}

TEST(hook_comes_once_for_each_child) {
    on_each_route(once_each);
}

TEST(hook_does_not_come_for_a_fast_start) {
    struct calls calls = {0};
    const int64_t longer[] = {INT64_MAX, INT64_MAX - 1, INT64_C(600) * 1000000000};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        forkless_command *c = probe("exit", "7", NULL);
        with_hook(c, longer[i], &calls);
        for (int l = 0; l < 2; l++)
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        forkless_command_free(c);
    }
    CHECK_EQ(calls.count, 0);
}

TEST(hook_comes_in_a_wait_with_a_deadline) {
    struct calls calls = {0};
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    forkless_child *child = launched(forkless_start, c);
    await_set_up(child);
    int64_t due = forkless_next_deadline(child);
    CHECK_EQ(due, stamps_of(child).asked + 5000000);
    CHECK_EQ(calls.count, 0);
    CHECK_EQ(forkless_wait(child, from_now(20), NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(calls.count, 1);
    CHECK(calls.child == child);
    CHECK_EQ(calls.stamps.execed, 0);
    CHECK_EQ(calls.stamps.exec_called, 0);
    CHECK_EQ(calls.stamps.set_up != 0, has_vdso());
    CHECK_EQ(forkless_next_deadline(child), FORKLESS_NEVER);
    CHECK_EQ(forkless_wait(child, 0, NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_poll(child), FORKLESS_PENDING);
    open_fifo();
    ends(child, FORKLESS_EXITED, 7);
    CHECK_EQ(calls.count, 1);
    forkless_command_free(c);
}

/* As an event loop does it. */
TEST(hook_comes_in_poll_when_it_is_due) {
    struct calls calls = {0};
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    forkless_child *child = launched(forkless_start, c);
    while (calls.count == 0) {
        int64_t due = forkless_next_deadline(child);
        CHECK_EQ(due, stamps_of(child).asked + 5000000);
        while (from_now(0) <= due)
            nap(500);
        CHECK_EQ(forkless_poll(child), FORKLESS_PENDING);
    }
    CHECK_EQ(forkless_next_deadline(child), FORKLESS_NEVER);
    open_fifo();
    ends(child, FORKLESS_EXITED, 7);
    CHECK_EQ(calls.count, 1);
    forkless_command_free(c);
}

static void let_go(forkless_child *child) {
    (void)child;
    open_fifo();
}

static void *waits(void *child) {
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    return NULL;
}

/* Nothing but the hook ends the wait. */
TEST(hook_comes_in_a_wait_without_deadline) {
    struct calls calls = {.act = let_go};
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    forkless_child *child = launched(forkless_start, c);
    pthread_t other = thread(waits, child);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(calls.count, 1);
    ends(child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

static void *opens(void *unused) {
    (void)unused;
    nap(20000);
    open_fifo();
    return NULL;
}

TEST(hook_comes_in_spawn) {
    struct calls calls = {0};
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    pthread_t other = thread(opens, NULL);
    forkless_child *child = launched(forkless_spawn, c);
    CHECK_EQ(calls.count, 1);
    CHECK(calls.child == child);
    CHECK(calls.stamps.execed != 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    ends(child, FORKLESS_EXITED, 7);
    CHECK_EQ(calls.count, 1);
    forkless_command_free(c);
}

/* Nobody looked: it is not the child that was slow. */
TEST(hook_does_not_blame_a_child_for_a_late_look) {
    struct calls calls = {0};
    const int64_t longer = 300000000;
    forkless_command *c = probe("exit", "7", NULL);
    with_hook(c, longer, &calls);
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    while (from_now(0) - stamps_of(child).asked <= longer)
        nap(10000);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    forkless_stamps s = stamps_of(child);
    CHECK(s.execed - s.asked > longer);
    CHECK_EQ(calls.count, s.exec_called - s.asked > longer);
    forkless_child_free(child);
    forkless_command_free(c);
}

static void kill_it(forkless_child *child) {
    CHECK(forkless_pid(child) > 0);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
}

TEST(hook_may_kill_and_wait) {
    forkless_status status;
    struct calls calls = {.act = kill_it};
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    for (int by_poll = 0; by_poll < 2; by_poll++) {
        forkless_child *child = launched(forkless_start, c);
        while (by_poll && forkless_poll(child) == FORKLESS_PENDING)
            nap(1000);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK(!status.execed);
        CHECK_EQ(calls.count, by_poll + 1);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    c = probe("pause", NULL);
    with_hook(c, 0, &calls);
    ends(launched(forkless_spawn, c), FORKLESS_KILLED, SIGKILL);
    CHECK_EQ(calls.count, 3);
    forkless_command_free(c);
    check_no_child();
}

static void wait_for_it(forkless_child *child, const forkless_stamps *stamps, void *host) {
    (void)stamps;
    forkless_status *status = host;
    CHECK_EQ(forkless_child_pipe(child, 1), -EBADF);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, status, NULL), 0);
}

/* It writes more than a pipe holds: whoever waits has to read it. */
static void wait_for_a_run(enum forkless_mechanism limit) {
    forkless_command *c = command("/usr/bin/seq", "100000", NULL);
    forkless_status status = {0};
    CHECK_EQ(forkless_mechanism_limit(limit), 0);
    CHECK_EQ(forkless_command_slow_start(c, 0, wait_for_it, &status), 0);
    forkless_result r;
    CHECK_EQ(forkless_run(c, NULL, &r, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_EXITED);
    CHECK_EQ(r.output_size, 588895);
    forkless_result_free(&r);
    forkless_command_free(c);
    check_no_child();
}

TEST(hook_may_wait_for_a_run) {
    wait_for_a_run(FORKLESS_CLONE3_VM);
    wait_for_a_run(FORKLESS_CLONE3_VFORK);
}

/* A run comes back to it too, and to its own deadline none the less. */
TEST(hook_comes_in_a_run) {
    struct calls calls = {0};
    forkless_result result;
    forkless_command *c = behind_fifo();
    with_hook(c, 5000000, &calls);
    const forkless_run_options options = {.deadline_ns = from_now(50)};
    forkless_run(c, &options, &result, NULL);
    CHECK_EQ(calls.count, 1);
    CHECK_EQ(calls.stamps.execed, 0);
    forkless_result_free(&result);
    forkless_command_free(c);
    check_no_child();
}

/* ---- children that take forkless-exec ---- */

static forkless_command *helped(const char *program) {
    forkless_command *c = program ? command(program, NULL) : probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_oom_score(c, 500), 0);
    return c;
}

TEST(helped_children_exec_twice) {
    struct calls calls = {0};
    with_helper();
    for (int hook = 0; hook < 2; hook++)
        for (int l = 0; l < 2; l++) {
            forkless_command *c = helped(NULL);
            if (hook)
                with_hook(c, 0, &calls);
            forkless_child *child = launched(launchers[l], c);
            CHECK(forkless_helped(child));
            CHECK_EQ(stamps_of(child).execed != 0, launchers[l] == forkless_spawn);
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
            forkless_stamps s = stamps_of(child);
            CHECK(s.execed != 0 && s.exited != 0);
            CHECK_EQ(s.exec_called != 0, has_vdso());
            check_order(&s);
            CHECK_EQ(calls.count, hook ? l + 1 : 0);
            forkless_child_free(child);
            forkless_command_free(c);
        }
}

static struct held target;

static void let_target_go(forkless_child *child) {
    CHECK_EQ(forkless_poll(child), FORKLESS_PENDING);
    held_go(&target, 0);
}

/* It is the target's exec that counts. */
TEST(hook_comes_before_the_target_runs) {
    struct calls calls = {.act = let_target_go};
    with_helper();
    forkless_command *c = helped(NULL);
    with_hook(c, 5000000, &calls);
    target = (struct held){.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&target);
    held_join(&target);
    CHECK_EQ(target.rc, 0);
    CHECK_EQ(forkless_wait(target.child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(calls.count, 1);
    CHECK_EQ(calls.stamps.execed, 0);
    CHECK_EQ(calls.stamps.exec_called != 0, has_vdso());
    ends(target.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(target_that_fails) {
    struct calls calls = {0};
    with_helper();
    forkless_command *c = helped("/nonexistent");
    with_hook(c, INT64_C(600) * 1000000000, &calls);
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), -ENOENT);
    forkless_stamps s = stamps_of(child);
    CHECK(s.execed == 0 && s.exited != 0);
    check_order(&s);
    CHECK_EQ(calls.count, 0);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* ---- one pointer of the host's ---- */

TEST(hosts_pointer) {
    int mine;
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *child = launched(forkless_start, c);
    CHECK(forkless_child_host(child) == NULL);
    forkless_child_set_host(child, &mine);
    CHECK(forkless_child_host(child) == &mine);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK(forkless_child_host(child) == &mine);
    forkless_child_free(child);
    CHECK(forkless_child_host(child) == NULL);
    forkless_child *next = launched(forkless_start, c); /* in its place */
    CHECK(next == child);
    CHECK(forkless_child_host(next) == NULL);
    CHECK_EQ(stamps_of(next).exited, 0);
    ends(next, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* ---- bad input ---- */

TEST(what_is_no_child_has_no_stamps) {
    forkless_stamps s = {.asked = 1};
    CHECK_EQ(forkless_child_stamps(NULL, &s), -EINVAL);
    CHECK_EQ(s.asked, 0);
    CHECK(forkless_child_host(NULL) == NULL);
    forkless_child_set_host(NULL, &s);
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    CHECK_EQ(forkless_child_stamps(child, NULL), -EINVAL);
    int status;
    pid_t pid = forked();
    if (pid == 0) {
        CHECK_EQ(forkless_child_stamps(child, &s), -ECHILD);
        forkless_child_set_host(child, &s);
        CHECK(forkless_child_host(child) == NULL);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    ends(child, FORKLESS_EXITED, 7);
    CHECK_EQ(forkless_child_stamps(child, &s), -EINVAL);
    forkless_command_free(c);
}

TEST(hook_as_a_setter) {
    forkless_error error;
    forkless_child *child;
    CHECK_EQ(forkless_command_slow_start(NULL, 0, note, NULL), -EINVAL);
    forkless_command *c = probe("exit", "7", NULL);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    CHECK_EQ(forkless_command_slow_start(c, 0, note, NULL), -EBUSY);
    forkless_command_free(c);
    for (int i = 0; i < 2; i++) {
        c = probe("exit", NULL);
        CHECK_EQ(forkless_command_slow_start(c, i - 1, i ? NULL : note, NULL), -EINVAL);
        CHECK_EQ(forkless_spawn(c, &child, &error), -EINVAL);
        CHECK_EQ(error.step, FORKLESS_STEP_SETTER);
        CHECK_EQ(strcmp(error.subject, "forkless_command_slow_start"), 0);
        forkless_command_free(c);
    }
}

int main(void) {
    char folder[] = "/tmp/stampsXXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_are_in_order),
        cmocka_unit_test(what_holds_a_child_is_seen),
        cmocka_unit_test(killed_before_exec),
        cmocka_unit_test(exec_that_fails),
        cmocka_unit_test(hook_comes_once_for_each_child),
        cmocka_unit_test(hook_does_not_come_for_a_fast_start),
        cmocka_unit_test(hook_comes_in_a_wait_with_a_deadline),
        cmocka_unit_test(hook_comes_in_poll_when_it_is_due),
        cmocka_unit_test(hook_comes_in_a_wait_without_deadline),
        cmocka_unit_test(hook_comes_in_spawn),
        cmocka_unit_test(hook_does_not_blame_a_child_for_a_late_look),
        cmocka_unit_test(hook_may_kill_and_wait),
        cmocka_unit_test(hook_may_wait_for_a_run),
        cmocka_unit_test(hook_comes_in_a_run),
        cmocka_unit_test(helped_children_exec_twice),
        cmocka_unit_test(hook_comes_before_the_target_runs),
        cmocka_unit_test(target_that_fails),
        cmocka_unit_test(hosts_pointer),
        cmocka_unit_test(what_is_no_child_has_no_stamps),
        cmocka_unit_test(hook_as_a_setter),
    };
    int rc = RUN(tests);
    unlink("stamps.fifo");
    rmdir(folder);
    return rc;
}
