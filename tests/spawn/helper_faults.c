/* forkless-exec itself: missing, replaced, refusing, failing at each of its system calls, killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { NOBODY = 65534, SENTINEL = 12345, F_ADD = 1033, F_GET = 1034 }; /* F_..._SEALS */

static forkless_command *helped(forkless_command *c) {
    CHECK_EQ(forkless_command_oom_score(c, 500), 0);
    return c;
}

/* ---- B15: each of its system calls refused ---- */

#define FAIL(name, code)           SYS_##name, SECCOMP_RET_ERRNO | (code), 0, 0, 0
#define FAIL_OF(name, code, n, is) SYS_##name, SECCOMP_RET_ERRNO | (code), n, ~0u, (uint32_t)(is)

enum { WORKS = -1, AS_REFUSED = 0 };

struct fault {
    struct rule rule;
    int step; /* WORKS: the target runs nevertheless */
    int code; /* AS_REFUSED */
    bool root;
};

static const struct fault faults[] = {
    {{FAIL(execveat, EACCES)}, FORKLESS_STEP_HELPER, ENOTSUP, false},
    {{FAIL(execveat, E2BIG)}, FORKLESS_STEP_EXEC, AS_REFUSED, false},
    {{FAIL_OF(fcntl, EIO, 1, F_GET)}, FORKLESS_STEP_HELPER, ENOTSUP, false},
    {{FAIL(lseek, EIO)}, FORKLESS_STEP_HELPER, ENOTSUP, false},
    {{FAIL_OF(mmap, ENOMEM, 3, MAP_PRIVATE)}, FORKLESS_STEP_HELPER, ENOTSUP, false},
    {{FAIL_OF(rt_sigaction, EIO, 0, SIGPIPE)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL_OF(fcntl, EIO, 1, F_SETFD)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL_OF(openat, ENOENT, 2, O_WRONLY | O_CLOEXEC)},
     FORKLESS_STEP_OOM_SCORE,
     AS_REFUSED,
     false},
    {{FAIL_OF(write, EACCES, 2, 3)}, FORKLESS_STEP_OOM_SCORE, AS_REFUSED, false},
    {{FAIL_OF(write, EACCES, 2, 16)}, FORKLESS_STEP_HELPER, EIO, false},
    {{FAIL(write, EBADF)}, FORKLESS_STEP_HELPER, EIO, false},
    {{FAIL(prlimit64, EPERM)}, FORKLESS_STEP_RLIMIT, AS_REFUSED, false},
    {{FAIL_OF(prctl, EPERM, 0, PR_SET_KEEPCAPS)}, FORKLESS_STEP_CAPABILITIES, AS_REFUSED, true},
    {{FAIL(setgroups, EPERM)}, FORKLESS_STEP_GROUPS, AS_REFUSED, true},
    {{FAIL(setresgid, EPERM)}, FORKLESS_STEP_GID, AS_REFUSED, true},
    {{FAIL(setresuid, EAGAIN)}, FORKLESS_STEP_UID, AS_REFUSED, true},
    {{FAIL(capget, ENOSYS)}, FORKLESS_STEP_CAPABILITIES, AS_REFUSED, true},
    {{FAIL(capset, EPERM)}, FORKLESS_STEP_CAPABILITIES, AS_REFUSED, true},
    {{FAIL_OF(prctl, EINVAL, 0, PR_CAP_AMBIENT)}, FORKLESS_STEP_CAPABILITIES, AS_REFUSED, true},
    {{FAIL_OF(prctl, EPERM, 0, PR_SET_SECUREBITS)}, FORKLESS_STEP_SECUREBITS, AS_REFUSED, true},
    {{FAIL(chdir, ELOOP)}, FORKLESS_STEP_CWD, AS_REFUSED, false},
    {{FAIL_OF(prctl, EPERM, 0, PR_SET_NO_NEW_PRIVS)},
     FORKLESS_STEP_NO_NEW_PRIVS,
     AS_REFUSED,
     false},
    {{FAIL(execve, EPERM)}, FORKLESS_STEP_EXEC, AS_REFUSED, false},
    {{FAIL(memfd_create, ENOMEM)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL_OF(memfd_create, EINVAL, 1, 11)}, WORKS, 0, false}, /* before Linux 6.3 */
    {{FAIL(pwrite64, EIO)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL_OF(fcntl, EPERM, 1, F_ADD)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL(pipe2, EMFILE)}, FORKLESS_STEP_HELPER, AS_REFUSED, false},
    {{FAIL(ppoll, ENOMEM)}, WORKS, 0, false},
};

static forkless_command *all_of_it(const char *marker) {
    const struct rlimit core = {0, 0};
    forkless_command *c = helped(probe("touch", marker, NULL));
    CHECK_EQ(forkless_command_signal(c, SIGPIPE, FORKLESS_INHERIT), 0);
    CHECK_EQ(forkless_command_rlimit(c, RLIMIT_CORE, &core), 0);
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    CHECK_EQ(forkless_command_no_new_privs(c), 0);
    CHECK_EQ(forkless_command_death_signal(c, SIGTERM), 0);
    if (geteuid() == 0) {
        CHECK_EQ(forkless_command_groups(c, 0, NULL), 0);
        CHECK_EQ(forkless_command_uid(c, NOBODY), 0);
        CHECK_EQ(forkless_command_gid(c, NOBODY), 0);
        CHECK_EQ(forkless_command_capabilities(c, 2), 0); /* to write anywhere */
        CHECK_EQ(forkless_command_securebits(c, SECBIT_NOROOT), 0);
    }
    return c;
}

static void one_fault(const struct fault *f, launcher *launch, const char *marker) {
    static struct snapshot before;
    with_helper();
    forkless_command *warm = all_of_it("/dev/null"), *c = all_of_it(marker);
    ends(launched(launch, warm), FORKLESS_EXITED, 0);
    if (f->rule.number == SYS_prctl) /* the kernel wants it before a filter */
        CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    filter(&f->rule, 1);
    errno = SENTINEL;
    for (int i = 0; i < 3; i++) {
        if (f->step == WORKS)
            ends(launched(launch, c), FORKLESS_EXITED, 0);
        else
            fails(launch, c, f->code ? -f->code : -(int)(f->rule.action & SECCOMP_RET_DATA),
                  (enum forkless_step)f->step, -1 + (f->step == FORKLESS_STEP_RLIMIT) * 5);
        if (i == 0) {
            CHECK_EQ(errno, SENTINEL);
            if (f->rule.number != SYS_openat)
                snapshot_take(&before);
        }
    }
    if (f->rule.number != SYS_openat)
        snapshot_check(&before);
    CHECK_EQ(access(marker, F_OK) == 0, f->step == WORKS);
    check_no_child();
    _exit(0);
}

TEST(b15_each_call_refused) {
    char marker[] = "/tmp/spawn-test-XXXXXX";
    CHECK(mkstemp(marker) >= 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int l = 0; l < 2; l++) {
            if (faults[i].root && geteuid() != 0)
                continue;
            unlink(marker);
            pid_t pid = forked();
            if (pid == 0)
                one_fault(&faults[i], launchers[l], marker);
            int status;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            if (status) {
                char name[64];
                snprintf(name, sizeof name, "fault %zu, launcher %d", i, l);
                check_failed(__FILE__, __LINE__, name);
            }
        }
    unlink(marker);
}

/* ---- B32: killed in it ---- */

static void killed_at(launcher *launch, long number, bool execed) {
    forkless_status status;
    forkless_command *c = helped(probe("exit", "7", NULL));
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    struct held h = {.command = c, .launch = launch, .number = number};
    held_begin(&h);
    if (launch == forkless_start) {
        held_join(&h);
        CHECK_EQ(forkless_wait(h.child, from_now(5), NULL, NULL), -ETIMEDOUT);
    } else {
        nap(20000);
        CHECK_EQ(pthread_tryjoin_np(h.thread, NULL), EBUSY);
    }
    CHECK_EQ(kill(h.pid, SIGKILL), 0);
    if (launch == forkless_spawn)
        held_join(&h);
    CHECK_EQ(h.rc, 0);
    CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    CHECK_EQ(status.code, SIGKILL);
    CHECK_EQ(status.execed, execed);
    forkless_child_free(h.child);
    forkless_command_free(c);
    close(h.listener);
    check_no_child();
}

TEST(b32_killed_inside) {
    with_helper();
    for (int l = 0; l < 2; l++) {
        killed_at(launchers[l], SYS_close_range, false); /* before it */
        killed_at(launchers[l], SYS_execveat, false);
        killed_at(launchers[l], SYS_lseek, false);
        killed_at(launchers[l], SYS_chdir, false);
        killed_at(launchers[l], SYS_execve, true); /* which cannot be told apart */
    }
}

/* The handle is given up: the child goes on to the target, though nobody reads its reports. */
TEST(given_up_before_the_exec) {
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_lseek};
    held_begin(&h);
    held_join(&h);
    forkless_child_free(h.child);
    forkless_command_free(c);
    held_go(&h, 0);
    int status;
    CHECK_EQ(waitpid(h.pid, &status, __WALL), h.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- B112: a fork of the host copies the pipe ---- */

TEST(b112_a_copy_of_the_pipe) {
    with_helper();
    forkless_command *c = helped(probe("pause", NULL)),
                     *bad = helped(command("/nonexistent", NULL));
    for (int i = 0; i < 2; i++) {
        struct held h = {
            .command = i ? bad : c, .launch = forkless_spawn, .number = SYS_close_range};
        held_begin(&h);
        pid_t pid = forked();
        if (pid == 0)
            for (;;)
                pause();
        held_go(&h, 0);
        held_join(&h);
        CHECK_EQ(h.rc, i ? -ENOENT : 0);
        if (i == 0) {
            CHECK_EQ(forkless_kill(h.child, SIGKILL, FORKLESS_CHILD), 0);
            ends(h.child, FORKLESS_KILLED, SIGKILL);
        }
        CHECK_EQ(kill(pid, SIGKILL), 0);
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
        close(h.listener);
    }
    forkless_command_free(c);
    forkless_command_free(bad);
}

static int start_run(const forkless_command *c, forkless_child **out, forkless_error *error) {
    const forkless_run_options minute = {.grace_ns = INT64_C(60000000000)};
    return forkless_run_start(c, &minute, out, error);
}

/* It has ended, and the copy holds its outputs. */
TEST(b112_what_was_running_is_not_pending) {
    with_helper();
    CHECK_EQ(forkless_mechanism_limit(FORKLESS_CLONE3_VFORK), 0); /* held before it closes them */
    forkless_command *c = helped(probe("pause", NULL));
    struct held h = {.command = c, .launch = start_run, .number = SYS_close_range};
    held_begin(&h);
    pid_t pid = forked();
    if (pid == 0)
        for (;;)
            pause();
    held_go(&h, 0);
    held_join(&h);
    while (forkless_poll(h.child) == FORKLESS_PENDING)
        nap(100);
    CHECK_EQ(forkless_kill(h.child, SIGKILL, FORKLESS_CHILD), 0);
    struct pollfd ended = {.fd = forkless_pidfd(h.child), .events = POLLIN};
    CHECK_EQ(poll(&ended, 1, -1), 1);
    CHECK_EQ(forkless_poll(h.child), FORKLESS_RUNNING);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    ends(h.child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
}

/* ---- B27: the parent is killed meanwhile ---- */

static int listening(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = *port};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(fd, 1), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = address.sin_port;
    return fd;
}

/* The child stands still in forkless-exec; says so by a byte. */
static _Noreturn void stands_still(int out, uint16_t *port) {
    char path[64];
    with_helper();
    listening(port);
    forkless_command *c = helped(probe("pause", NULL));
    CHECK_EQ(forkless_command_fd(c, 1, out), 0);
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_chdir};
    held_begin(&h);
    for (int fd = 5; fd < 700; fd++) { /* 3 and 4 are its own */
        struct stat s;
        snprintf(path, sizeof path, "/proc/%d/fd/%d", h.pid, fd);
        CHECK_EQ(lstat(path, &s), -1);
    }
    CHECK_EQ(write(out, port, sizeof *port), sizeof *port);
    for (;;)
        pause();
}

TEST(b27_nothing_is_held) {
    int ends_with_it[2];
    uint16_t port = 0;
    CHECK_EQ(pipe2(ends_with_it, O_CLOEXEC), 0);
    pid_t pid = forked();
    if (pid == 0)
        stands_still(ends_with_it[1], &port);
    close(ends_with_it[1]);
    CHECK_EQ(read(ends_with_it[0], &port, sizeof port), sizeof port);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    char byte;
    CHECK_EQ(read(ends_with_it[0], &byte, 1), 0); /* chdir fails as the listener is gone */
    close(listening(&port));
}

/* The job is written by the caller, whom the signal would end. */
TEST(job_beyond_the_limit_of_files) {
    static struct snapshot before;
    const struct rlimit small = {4, 4};
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int l = 0; l < 2; l++) {
        fails(launchers[l], c, -EFBIG, FORKLESS_STEP_HELPER, -1);
        if (l == 0)
            snapshot_take(&before);
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b15_each_call_refused),
        cmocka_unit_test(b32_killed_inside),
        cmocka_unit_test(given_up_before_the_exec),
        cmocka_unit_test(b112_a_copy_of_the_pipe),
        cmocka_unit_test(b112_what_was_running_is_not_pending),
        cmocka_unit_test(b27_nothing_is_held),
        cmocka_unit_test(job_beyond_the_limit_of_files),
    };
    return RUN(tests);
}
