/* Batches that lack something: held back and tried again, or failed, and nothing is left. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_support.h"
#include "run_support.h"
#include "support.h"

#define FAIL(name, code) SYS_##name, SECCOMP_RET_ERRNO | (code), 0, 0, 0

/* All of them ran; how often one was held back. */
static size_t all_run(forkless_batch *b, int commands) {
    forkless_counts counts;
    for (int i = 0; i < commands; i++) {
        forkless_answer answer;
        answered(b, &answer);
        has_run(&answer, FORKLESS_EXITED, 0);
        forkless_result_free(&answer.result);
    }
    CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    return counts.held_back;
}

/* ---- a limit of processes ---- */

/* Of a user of its own; the thread counts as well. */
static void few_processes(enum forkless_batch_mode mode) {
    const uid_t user = 64000 + (uid_t)getpid() % 1000;
    const struct rlimit limit = {4, 4};
    if (geteuid() != 0)
        skip_test("only root can become another user");
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
    CHECK_EQ(setresuid(user, user, user), 0);
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 8});
    forkless_command *c = command("/bin/sleep", "0.02", NULL);
    for (int i = 0; i < 30; i++)
        add(b, c, i % 2 ? &plain : NULL, i);
    CHECK(all_run(b, 30) > 0);
    forkless_command_free(c);
    is_dry(b);
}

TEST(a_limit_of_processes) {
    in_each_mode(few_processes);
}

/* ---- EMFILE ---- */

/* With `spare` descriptors of which each command takes one and each that is captured three. */
static void few_descriptors(enum forkless_batch_mode mode, bool captures, int spare) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 8});
    forkless_command *c = command("/bin/sleep", "0.01", NULL);
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 60;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int fds[64], n = 0;
    while ((fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    for (int i = 0; i < spare; i++)
        close(fds[--n]);
    for (int i = 0; i < 12; i++)
        add(b, c, captures ? NULL : &plain, i);
    CHECK(all_run(b, 12) > 0);
    forkless_command_free(c);
    is_dry(b);
    while (n > 0)
        close(fds[--n]);
}

static void each_number_of_descriptors(enum forkless_batch_mode mode) {
    for (int spare = 0; spare < 4; spare++)
        few_descriptors(mode, false, spare);
    few_descriptors(mode, true, 6);
    few_descriptors(mode, true, 10);
}

TEST(b38_few_descriptors) {
    in_each_mode(each_number_of_descriptors);
}

/* ---- what does not pass ---- */

static void refused(enum forkless_batch_mode mode) {
    refuse(SYS_clone3, EAGAIN);
    forkless_batch *b = batch(&(forkless_batch_options){.at_once = 2});
    forkless_command *c = command("/bin/true", NULL);
    forkless_counts counts;
    (void)mode;
    for (int i = 0; i < 50; i++)
        add(b, c, i % 2 ? NULL : &plain, i);
    for (int i = 0; i < 50; i++) {
        forkless_answer answer;
        answered(b, &answer);
        CHECK_EQ(answer.answered, FORKLESS_FAILED);
        CHECK_EQ(answer.error.code, -EAGAIN);
        CHECK_EQ(answer.error.step, FORKLESS_STEP_CLONE);
    }
    CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    CHECK(counts.held_back > 0);
    forkless_command_free(c);
    is_dry(b);
}

TEST(what_does_not_pass_fails) {
    refused(FORKLESS_DIRECT);
}

/* ---- each call refused ---- */

static const struct {
    const char *name;
    struct rule rule;
} faults[] = {
    {"epoll_pwait", {FAIL(epoll_pwait, EPERM)}},
    {"epoll_ctl", {FAIL(epoll_ctl, ENOSPC)}},
    {"pidfd_open", {FAIL(pidfd_open, ENOSYS)}},
    {"clone3", {FAIL(clone3, ENOSYS)}},
    {"waitid of a pidfd", {SYS_waitid, SECCOMP_RET_ERRNO | EPERM, 0, ~0u, P_PIDFD}},
    {"ppoll", {FAIL(ppoll, ENOMEM)}},
    {"sched_getaffinity", {FAIL(sched_getaffinity, EPERM)}},
};

static int which_mode;

static void one_fault(int which) {
    filter(&faults[which].rule, 1);
    forkless_batch *b;
    int rc = forkless_batch_new(
        &b, &(forkless_batch_options){.mode = (enum forkless_batch_mode)which_mode});
    if (rc < 0) { /* the thread cannot be woken */
        CHECK(which_mode == FORKLESS_THREAD && rc == -ENOSPC && b == NULL);
        return;
    }
    forkless_command *c = shell("exit 0"), *slow = shell("sleep 60");
    for (int i = 0; i < 12; i++)
        add(b, i == 5 ? slow : c,
            i % 2 ? &(forkless_run_options){.capture = FORKLESS_CAPTURE_NONE,
                                            .deadline_ns = i == 5 ? from_now(100) : 0}
                  : NULL,
            i);
    for (int i = 0; i < 12; i++) {
        forkless_answer answer;
        long number = answered(b, &answer);
        if (number != 5)
            has_run(&answer, FORKLESS_EXITED, 0);
        else if (answer.answered == FORKLESS_RAN)
            CHECK(answer.result.timed_out);
        else
            CHECK_EQ(answer.error.code, -ETIMEDOUT);
        forkless_result_free(&answer.result);
    }
    forkless_command_free(c);
    forkless_command_free(slow);
    is_dry(b);
}

static void each_fault(enum forkless_batch_mode mode) {
    which_mode = (int)mode;
    for (int i = 0; i < (int)(sizeof faults / sizeof *faults); i++)
        /* A sanitizer's own thread asks for its affinity. */
        if (!sanitized() || faults[i].rule.number != SYS_sched_getaffinity)
            in_process(one_fault, i);
}

TEST(b15_each_call_refused) {
    in_each_mode(each_fault);
}

static void not_made(int which) {
    static const struct rule rules[] = {{FAIL(epoll_create1, EMFILE)}, {FAIL(eventfd2, EMFILE)},
                                        {FAIL(epoll_ctl, EMFILE)},     {FAIL(clone3, EAGAIN)},
                                        {FAIL(mmap, ENOMEM)},          {FAIL(madvise, ENOMEM)}};
    static const int codes[] = {EMFILE, EMFILE, EMFILE, EAGAIN, ENOMEM, ENOMEM};
    static struct snapshot before, after;
    sigset_t mask, mask_after;
    forkless_batch *b = (forkless_batch *)1;
    snapshot_take(&before);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    filter(&rules[which], 1);
    if (which == 3)
        refuse(SYS_clone, EAGAIN);
    CHECK_EQ(forkless_batch_new(&b, &(forkless_batch_options){.mode = FORKLESS_THREAD}),
             -codes[which]);
    CHECK(b == NULL);
    snapshot_take(&after);
    CHECK(memcmp(before.fds, after.fds, sizeof before.fds) == 0);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_after);
    for (int i = 1; i <= SIGRTMAX; i++)
        CHECK_EQ(sigismember(&mask_after, i), sigismember(&mask, i));
}

TEST(one_that_cannot_be_made) {
    for (int i = 0; i < 6; i++)
        in_process(not_made, i);
}

/* ---- others reap ---- */

static void ignored(enum forkless_batch_mode mode) {
    signal(SIGCHLD, SIG_IGN);
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = command("/bin/true", NULL), *none = command("/nonexistent", NULL);
    for (int i = 0; i < 30; i++)
        add(b, i % 3 ? c : none, i % 2 ? NULL : &plain, i);
    for (int i = 0; i < 30; i++) {
        forkless_answer answer;
        long number = answered(b, &answer);
        CHECK_EQ(answer.answered, number % 3 ? FORKLESS_RAN : FORKLESS_FAILED);
        if (answer.answered == FORKLESS_FAILED)
            CHECK_EQ(answer.error.code, -ENOENT);
        else if (answer.result.status.how != FORKLESS_UNKNOWN)
            has_run(&answer, FORKLESS_EXITED, 0);
        forkless_result_free(&answer.result);
    }
    forkless_command_free(c);
    forkless_command_free(none);
    is_dry(b);
}

TEST(b64_sigchld_ignored) {
    in_each_mode(ignored);
}

/* ---- a fork of the host's ---- */

static void forked_host(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = shell("sleep 0.1; echo x");
    forkless_answer answer;
    for (int i = 0; i < 8; i++)
        add(b, c, i % 2 ? NULL : &plain, i);
    forkless_batch_poll(b);
    pid_t pid = forked();
    if (pid == 0) {
        CHECK_EQ(forkless_batch_poll(b), -ECHILD);
        CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), -ECHILD);
        CHECK_EQ(forkless_batch_next(b, FORKLESS_NEVER, &answer), -ECHILD);
        CHECK_EQ(forkless_batch_add(b, c, NULL, NULL), -ECHILD);
        CHECK_EQ(forkless_batch_cancel(b), -ECHILD);
        CHECK_EQ(forkless_batch_fd(b), -ECHILD);
        forkless_batch_free(b);
        forkless_batch *own = batch(&(forkless_batch_options){.mode = mode});
        add(own, c, NULL, 3);
        CHECK_EQ(answered(own, &answer), 3);
        has_text(answer.result.output, answer.result.output_size, "x\n");
        forkless_result_free(&answer.result);
        is_dry(own);
        nap(300000); /* with copies of all that its parent closes */
        _exit(0);
    }
    for (int i = 0; i < 8; i++) {
        long number = answered(b, &answer);
        if (number % 2)
            has_text(answer.result.output, answer.result.output_size, "x\n");
        has_run(&answer, FORKLESS_EXITED, 0);
        forkless_result_free(&answer.result);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    forkless_command_free(c);
    is_dry(b);
}

TEST(b112_a_fork_of_the_host) {
    no_leak_check();
    in_each_mode(forked_host);
}

/* ---- an event loop that knows the descriptor and the deadline alone ---- */

static void looped(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 3});
    forkless_command *c = shell("exec sleep 0.01"), *slow = shell("sleep 60");
    struct pollfd loop = {.fd = forkless_batch_fd(b), .events = POLLIN};
    int rc, answers = 0, turns = 0;
    for (int i = 0; i < 24; i++)
        add(b, i % 8 ? c : slow,
            i % 8 ? i % 2 ? NULL : &plain
                  : &(forkless_run_options){.capture = FORKLESS_CAPTURE_NONE,
                                            .deadline_ns = from_now(300)},
            i);
    while (answers < 24) {
        int64_t next = forkless_batch_next_deadline(b), now = from_now(0);
        int ms = next == FORKLESS_NEVER ? -1 : next <= now ? 0 : (int)((next - now) / 1000000) + 1;
        CHECK_EQ(forkless_batch_fd(b), loop.fd);
        CHECK(poll(&loop, 1, ms) >= 0);
        forkless_answer answer;
        while ((rc = forkless_batch_next(b, 0, &answer)) == 0) {
            answers++;
            forkless_result_free(&answer.result);
        }
        CHECK(rc == -ETIMEDOUT || rc == -ENODATA);
        CHECK(turns++ < 2000); /* it does not spin */
    }
    forkless_command_free(c);
    forkless_command_free(slow);
    is_dry(b);
}

TEST(in_an_event_loop) {
    in_each_mode(looped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_of_processes),     cmocka_unit_test(b38_few_descriptors),
        cmocka_unit_test(what_does_not_pass_fails), cmocka_unit_test(b15_each_call_refused),
        cmocka_unit_test(one_that_cannot_be_made),  cmocka_unit_test(b64_sigchld_ignored),
        cmocka_unit_test(b112_a_fork_of_the_host),  cmocka_unit_test(in_an_event_loop),
    };
    return RUN(tests);
}
