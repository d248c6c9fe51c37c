/* B15: each system call refused in turn; nothing may be left, and the error names its step. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { SENTINEL = 12345, ANY = 0, OF_CLOSE_RANGE, OF_CLONE, COLD, WORKS = -1 };

#define FAIL(name, code)           SYS_##name, SECCOMP_RET_ERRNO | (code), 0, 0, 0
#define FAIL_OF(name, code, n, is) SYS_##name, SECCOMP_RET_ERRNO | (code), n, ~0u, (uint32_t)(is)

/* Of the library, which reserves nothing; a sanitizer takes no refusal. */
#define OUR_MAPPINGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* `situation`: what else is refused, or COLD: nothing was started before. */
struct fault {
    const char *name;
    struct rule rule;
    int situation;
    int step; /* WORKS: it is not needed */
    int index;
};

static const struct fault faults[] = {
    {"clone3", {FAIL(clone3, ENOMEM)}, ANY, FORKLESS_STEP_CLONE, -1},
    {"clone", {FAIL(clone, EAGAIN)}, OF_CLONE, FORKLESS_STEP_CLONE, -1},
    {"mask of the parent",
     {FAIL_OF(rt_sigprocmask, EIO, 0, SIG_SETMASK)},
     OF_CLONE,
     FORKLESS_STEP_CLONE,
     -1},
    {"close_range", {FAIL(close_range, EIO)}, ANY, WORKS, 0},
    {"getdents64", {FAIL(getdents64, EIO)}, OF_CLOSE_RANGE, FORKLESS_STEP_CLOSE, -1},
    {"openat", {FAIL_OF(openat, ENFILE, 0, AT_FDCWD)}, OF_CLOSE_RANGE, FORKLESS_STEP_CLOSE, -1},
    {"marking", {FAIL_OF(fcntl, EIO, 1, F_SETFD)}, ANY, FORKLESS_STEP_DESCRIPTOR, 5},
    {"saving", {FAIL_OF(fcntl, EMFILE, 1, F_DUPFD_CLOEXEC)}, ANY, FORKLESS_STEP_DESCRIPTOR, 2},
    {"dup3", {FAIL(dup3, EBUSY)}, ANY, FORKLESS_STEP_DESCRIPTOR, 6},
    {"rt_sigprocmask", {FAIL(rt_sigprocmask, EIO)}, ANY, FORKLESS_STEP_MASK, -1},
    {"rt_sigaction", {FAIL(rt_sigaction, EIO)}, ANY, FORKLESS_STEP_SIGNAL, SIGPIPE},
    {"handlers", {FAIL(rt_sigaction, EIO)}, OF_CLONE, FORKLESS_STEP_HANDLERS, 1},
    {"execve", {FAIL(execve, EACCES)}, ANY, FORKLESS_STEP_EXEC, -1},
    {"execve after clone", {FAIL(execve, EACCES)}, OF_CLONE, FORKLESS_STEP_EXEC, -1},
    {"mmap", {FAIL_OF(mmap, ENOMEM, 3, OUR_MAPPINGS)}, COLD, FORKLESS_STEP_SLOT, -1},
    {"madvise", {FAIL(madvise, EINVAL)}, COLD, FORKLESS_STEP_SLOT, -1},
    {"mmap, warm", {FAIL(mmap, ENOMEM)}, ANY, WORKS, 0},
    {"pidfd_open", {FAIL(pidfd_open, EMFILE)}, ANY, WORKS, 0},
    {"pidfd_send_signal", {FAIL(pidfd_send_signal, ENOSYS)}, ANY, WORKS, 0},
    {"waitid of a pidfd", {FAIL_OF(waitid, EPERM, 0, P_PIDFD)}, ANY, WORKS, 0},
    {"ppoll", {FAIL(ppoll, ENOMEM)}, ANY, WORKS, 0},
};

/* One with every kind of move: kept, moved, and a swap. */
static forkless_command *busy_command(const char *what) {
    forkless_command *c = probe(what, "7", NULL);
    CHECK_EQ(dup2(0, 5), 5);
    CHECK_EQ(forkless_command_fd(c, 5, 5), 0);
    CHECK_EQ(forkless_command_fd(c, 6, 0), 0);
    CHECK_EQ(forkless_command_fd(c, 1, 2), 0);
    CHECK_EQ(forkless_command_fd(c, 2, 1), 0);
    return c;
}

static void works(launcher *launch, const forkless_command *c) {
    forkless_status status;
    forkless_child *child = launched(launch, c);
    forkless_pidfd(child);
    CHECK_EQ(forkless_wait(child, from_now(3), NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    CHECK_EQ(forkless_wait(child, from_now(15000), &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    forkless_child_free(child);
}

static void one_fault(const struct fault *f, launcher *launch) {
    static struct snapshot before;
    forkless_command *exits = busy_command("exit"), *pauses = busy_command("pause");
    if (f->situation != COLD)
        ends(launched(launch, exits), FORKLESS_EXITED, 7);
    if (f->situation == OF_CLOSE_RANGE)
        refuse(SYS_close_range, ENOSYS);
    if (f->situation == OF_CLONE) {
        refuse(SYS_clone3, ENOSYS);
        ends(launched(launch, exits), FORKLESS_EXITED, 7);
    }
    snapshot_take(&before);
    filter(&f->rule, 1);
    errno = SENTINEL;
    for (int i = 0; i < 3; i++)
        if (f->step == WORKS)
            works(launch, pauses);
        else
            fails(launch, exits, -(int)(f->rule.action & SECCOMP_RET_DATA),
                  (enum forkless_step)f->step, f->index);
    CHECK_EQ(errno, SENTINEL);
    if (f->rule.number != SYS_openat) /* which looking takes */
        snapshot_check(&before);
    check_no_child();
    _exit(0);
}

TEST(b15_each_call_refused) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int l = 0; l < 2; l++) {
            if (sanitized() && faults[i].rule.number == SYS_mmap) /* which sanitizers need */
                continue;
            pid_t pid = forked();
            if (pid == 0)
                one_fault(&faults[i], launchers[l]);
            int status;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            if (status)
                check_failed(__FILE__, __LINE__, faults[i].name);
        }
}

/* The pool and a chunk that nothing may touch are kept, and used when a slot can be opened. */
static void refused_mapping(const struct rule *rule) {
    static struct snapshot before;
    forkless_command *c = probe("exit", "7", NULL);
    pid_t pid = forked();
    if (pid == 0) {
        filter(rule, 1);
        fails(forkless_spawn, c, -ENOMEM, FORKLESS_STEP_SLOT, -1);
        snapshot_take(&before);
        for (int i = 0; i < 20; i++)
            fails(forkless_start, c, -ENOMEM, FORKLESS_STEP_SLOT, -1);
        snapshot_check(&before);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(b15_mappings_refused) {
    const struct rule open = {FAIL_OF(mprotect, ENOMEM, 2, PROT_READ | PROT_WRITE)};
    const struct rule wipe = {FAIL_OF(madvise, ENOMEM, 2, MADV_WIPEONFORK)};
    refused_mapping(&open);
    refused_mapping(&wipe);
}

/* Nobody can be waited for: that is told, and waiting again works when it does again. */
TEST(b15_waiting_refused) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_error error;
        pid_t pid = forked();
        if (pid == 0) {
            forkless_child *child = launched(launchers[l], c);
            refuse(SYS_waitid, EIO);
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, &error), -EIO);
            CHECK_EQ(error.step, FORKLESS_STEP_WAIT);
            CHECK_EQ(forkless_wait(child, from_now(10), NULL, &error), -EIO);
            CHECK_EQ(waitpid(forkless_pid(child), NULL, __WALL), forkless_pid(child));
            forkless_child_free(child);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
    forkless_command_free(c);
}

/* B17: a close that was interrupted is not done again. */
TEST(b17_interrupted_close) {
    refuse(SYS_close_range, ENOSYS);
    filter(&(struct rule){FAIL_OF(close, EINTR, 0, 3)}, 1);
    forkless_command *c = probe("exit", "7", NULL);
    for (int fd = 3; fd < 10; fd++)
        dup2(0, fd);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b15_each_call_refused),
        cmocka_unit_test(b15_mappings_refused),
        cmocka_unit_test(b15_waiting_refused),
        cmocka_unit_test(b17_interrupted_close),
    };
    return RUN(tests);
}
