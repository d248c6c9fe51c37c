/* B15, B38: runs whose system calls are refused; nothing is left, and nothing waits for ever. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

enum { SENTINEL = 12345, WORKS = -1 };

#define FAIL(name, code)           SYS_##name, SECCOMP_RET_ERRNO | (code), 0, 0, 0
#define FAIL_OF(name, code, n, is) SYS_##name, SECCOMP_RET_ERRNO | (code), n, ~0u, (uint32_t)(is)

/* `step`: where it fails; WORKS: all the same. */
static const struct fault {
    const char *name;
    struct rule rule;
    int step;
} faults[] = {
    {"pipe2", {FAIL(pipe2, EMFILE)}, FORKLESS_STEP_PIPE},
    {"not to block", {FAIL_OF(fcntl, EPERM, 1, F_SETFL)}, FORKLESS_STEP_PIPE},
    {"one more of 1", {FAIL_OF(fcntl, EMFILE, 1, F_DUPFD_CLOEXEC)}, FORKLESS_STEP_PIPE},
    {"clone3", {FAIL(clone3, EAGAIN)}, FORKLESS_STEP_CLONE},
    {"setpgid", {FAIL(setpgid, EPERM)}, FORKLESS_STEP_GROUP},
    {"dup3", {FAIL(dup3, EBUSY)}, FORKLESS_STEP_DESCRIPTOR},
    {"execve", {FAIL(execve, EACCES)}, FORKLESS_STEP_EXEC},
    {"pidfd_open", {FAIL(pidfd_open, EMFILE)}, WORKS},
    {"pidfd_send_signal", {FAIL(pidfd_send_signal, ENOSYS)}, WORKS},
    {"waitid of a pidfd", {FAIL_OF(waitid, EPERM, 0, P_PIDFD)}, WORKS},
    {"ppoll", {FAIL(ppoll, ENOMEM)}, WORKS},
    {"what is in a pipe", {FAIL_OF(ioctl, ENOTTY, 1, FIONREAD)}, WORKS},
    {"mask", {FAIL_OF(rt_sigprocmask, EPERM, 0, SIG_BLOCK)}, WORKS},
    {"rt_sigtimedwait", {FAIL(rt_sigtimedwait, ENOSYS)}, WORKS},
};

/* What is freed is unmapped, as a snapshot compares it. */
static void unmap_at_free(void) {
    mallopt(M_MMAP_THRESHOLD, 64 * 1024);
}

static void one_fault(const struct fault *f, bool merged) {
    static struct snapshot before;
    static char input[100000];
    memset(input, 'x', sizeof input);
    const forkless_run_options options = {
        .input = input,
        .input_size = sizeof input,
        .capture = merged ? FORKLESS_CAPTURE_MERGED : FORKLESS_CAPTURE_BOTH,
    };
    forkless_command *c = command("/bin/cat", NULL);
    forkless_result r;
    forkless_error error;
    unmap_at_free();
    CHECK_EQ(forkless_run(c, &options, &r, NULL), 0);
    forkless_result_free(&r);
    snapshot_take(&before);
    filter(&f->rule, 1);
    for (int i = 0; i < 3; i++) {
        errno = SENTINEL;
        int rc = forkless_run(c, &options, &r, &error);
        CHECK_EQ(errno, SENTINEL);
        if (f->step == WORKS) {
            CHECK_EQ(rc, 0);
            has_exited(&r, 0);
            CHECK_EQ(r.output_size, sizeof input);
            CHECK(memcmp(r.output, input, sizeof input) == 0);
        } else {
            CHECK_EQ(rc, -(int)(f->rule.action & SECCOMP_RET_DATA));
            CHECK_EQ(error.step, f->step);
            CHECK(r.output == NULL);
        }
        forkless_result_free(&r);
    }
    snapshot_check(&before);
    check_no_child();
    forkless_command_free(c);
}

TEST(b15_each_call_refused) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int merged = 0; merged < 2; merged++) {
            if (!merged && strcmp(faults[i].name, "one more of 1") == 0)
                continue;
            pid_t pid = forked();
            if (pid == 0) {
                one_fault(&faults[i], merged);
                _exit(0);
            }
            int status;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            if (status != 0)
                check_failed(__FILE__, __LINE__, faults[i].name);
        }
}

/* All of it is in the pipe when its end is seen, and how much that is cannot be asked. */
TEST(b78_what_is_in_a_pipe_refused) {
    forkless_command *c = shell("kill -STOP $$; exec seq 100000");
    forkless_child *child;
    forkless_result r;
    siginfo_t info;
    char path[64];
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    CHECK_EQ(waitid(P_PID, (id_t)forkless_pid(child), &info, WSTOPPED | WNOWAIT | __WALL), 0);
    snprintf(path, sizeof path, "/proc/%d/fd/1", forkless_pid(child));
    int large = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fcntl(large, F_SETPIPE_SZ, 1 << 20) > 0);
    close(large);
    CHECK_EQ(forkless_kill(child, SIGCONT, FORKLESS_CHILD), 0);
    struct pollfd end = {.fd = forkless_pidfd(child), .events = POLLIN};
    CHECK_EQ(poll(&end, 1, 20000), 1);
    filter(&(struct rule){FAIL_OF(ioctl, ENOTTY, 1, FIONREAD)}, 1);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    CHECK_EQ(r.output_size, 588895);
    CHECK(!r.writers_remained);
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* ---- B38: no descriptor is free, or only so many ---- */

static void with_spare(int spare) {
    forkless_command *c = shell("cat; echo err >&2; exit 3");
    const forkless_run_options options = {.input = "in\n", .input_size = 3};
    forkless_result r;
    forkless_error error;
    struct rlimit limit;
    CHECK_EQ(forkless_run(c, &options, &r, NULL), 0);
    forkless_result_free(&r);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 40;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int fds[64], n = 0;
    while ((fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    for (int i = 0; i < spare; i++)
        close(fds[--n]);
    int rc = forkless_run(c, &options, &r, &error);
    CHECK_EQ(rc, spare < 6 ? -EMFILE : 0);
    if (rc < 0) {
        CHECK_EQ(error.step, FORKLESS_STEP_PIPE);
        CHECK_EQ(error.index, spare / 2);
    } else {
        has_exited(&r, 3);
        has_text(r.output, r.output_size, "in\n");
        has_text(r.errors, r.errors_size, "err\n");
    }
    forkless_result_free(&r);
    for (int i = 0; i < spare; i++)
        CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    check_no_child();
    forkless_command_free(c);
}

TEST(b38_few_descriptors) {
    for (int spare = 0; spare < 9; spare++)
        in_process(with_spare, spare);
}

/* ---- the descriptor for event loops ---- */

static void without_epoll(int which) {
    static const struct rule rules[] = {
        {FAIL(epoll_create1, EMFILE)},
        {FAIL(epoll_ctl, ENOSPC)},
        {FAIL_OF(epoll_ctl, ENOMEM, 1, 1 /* EPOLL_CTL_ADD */)},
    };
    static struct snapshot before;
    forkless_command *c = shell("echo x");
    forkless_child *child;
    forkless_result r;
    unmap_at_free();
    CHECK_EQ(forkless_run(c, NULL, &r, NULL), 0);
    forkless_result_free(&r);
    snapshot_take(&before);
    filter(&rules[which], 1);
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(forkless_poll_fd(child), -(int)(rules[which].action & SECCOMP_RET_DATA));
    int64_t next;
    while (forkless_poll(child) != FORKLESS_ENDED) {
        next = forkless_next_deadline(child);
        CHECK(next != FORKLESS_NEVER);
        nap(1000);
    }
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    has_text(r.output, r.output_size, "x\n");
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
    snapshot_check(&before);
    check_no_child();
}

TEST(b38_loops_without_a_descriptor) {
    for (int which = 0; which < 3; which++)
        in_process(without_epoll, which);
}

/* ---- reading and writing that fail ---- */

TEST(reads_and_writes_fail) {
    forkless_command *c = command("/bin/cat", NULL);
    forkless_child *child;
    forkless_result r;
    CHECK_EQ(
        forkless_run_start(c, &(forkless_run_options){.input = "x", .input_size = 1}, &child, NULL),
        0);
    forkless_quiesce(FORKLESS_NEVER);
    filter(&(struct rule){FAIL(read, EIO)}, 1);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    CHECK_EQ(r.output_size, 0);
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b15_each_call_refused), cmocka_unit_test(b78_what_is_in_a_pipe_refused),
        cmocka_unit_test(b38_few_descriptors),   cmocka_unit_test(b38_loops_without_a_descriptor),
        cmocka_unit_test(reads_and_writes_fail),
    };
    return RUN(tests);
}
