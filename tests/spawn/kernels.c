/* Kernels, containers and emulators that refuse or change what a child is made with. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "support.h"

/* ---- B60, B103: clone3 refused ---- */

static void nothing(int signal) {
    (void)signal;
}

/* The same child as ever, by clone. */
static void without_clone3(int code) {
    static struct seen with, without;
    CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0); /* as the filter does */
    signal(SIGUSR1, nothing);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    CHECK_EQ(dup2(1, 9), 9);
    struct show s = show_new();
    show_run(&s, forkless_spawn, &with);
    refuse(SYS_clone3, code);
    for (int l = 0; l < 2; l++) {
        s = show_new();
        forkless_child *child = launched(launchers[l], s.command);
        CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE_VFORK);
        ends(child, FORKLESS_EXITED, 0);
        show_read(&s, &without);
        CHECK(strcmp(with.text, without.text) == 0);
    }
    forkless_command *bad = command("/nonexistent", NULL);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], bad, -ENOENT, FORKLESS_STEP_EXEC, -1));
    forkless_command_free(bad);
    check_no_child();
}

TEST(b60_b103_clone3_refused) {
    const int codes[] = {ENOSYS, EPERM, EINVAL, E2BIG};
    for (size_t i = 0; i < 4; i++)
        in_process(without_clone3, codes[i]);
}

/* Asked once a process: what was refused in another thread's filter stays refused. */
static void *refuse_and_spawn(void *command) {
    refuse(SYS_clone3, ENOSYS);
    ends(launched(forkless_spawn, command), FORKLESS_EXITED, 7);
    return NULL;
}

TEST(b103_a_refusal_is_remembered) {
    forkless_command *c = probe("exit", "7", NULL);
    pthread_t t = thread(refuse_and_spawn, c);
    CHECK_EQ(pthread_join(t, NULL), 0);
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE_VFORK);
    ends(child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

static void both_refused(int code) {
    static struct snapshot before;
    forkless_command *c = probe("exit", "7", NULL);
    ends(launched(forkless_start, c), FORKLESS_EXITED, 7);
    refuse(SYS_clone3, ENOSYS);
    refuse(SYS_clone, code);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, code == EINVAL ? -ENOTSUP : -code, FORKLESS_STEP_CLONE, -1);
    snapshot_check(&before);
    forkless_command_free(c);
}

TEST(b103_both_refused) {
    const int codes[] = {EPERM, EINVAL, EAGAIN, ENOSYS};
    for (size_t i = 0; i < 4; i++)
        in_process(both_refused, codes[i]);
}

/* No lasting verdict from a moment's want. */
TEST(b37_again_after_eagain) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int l = 0; l < 2; l++) {
        pid_t pid = forked();
        if (pid == 0) {
            refuse(SYS_clone3, EAGAIN);
            fails(launchers[l], c, -EAGAIN, FORKLESS_STEP_CLONE, -1);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
    struct rlimit old, none;
    CHECK_EQ(getrlimit(RLIMIT_NPROC, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    if (setresuid(65534, 65534, 0) < 0)
        skip_test("not root");
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -EAGAIN, FORKLESS_STEP_CLONE, -1);
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &old), 0);
    check_no_child();
    CHECK_EQ(setresuid(0, 0, 0), 0);
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE3_VM);
    ends(child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* ---- B63: a filter that traps ---- */

static volatile sig_atomic_t traps;

static void answer_enosys(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    traps++;
    ucontext_t *u = context;
#ifdef __x86_64__
    u->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
#else
    u->uc_mcontext.regs[0] = (unsigned long)-ENOSYS;
#endif
}

static void trapped(int number) {
    const struct sigaction a = {.sa_sigaction = answer_enosys, .sa_flags = SA_SIGINFO};
    CHECK_EQ(sigaction(SIGSYS, &a, NULL), 0);
    filter(&(struct rule){.number = number, .action = SECCOMP_RET_TRAP}, 1);
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_status status;
        forkless_child *child = launched(launchers[l], c);
        /* The child has no handler: it dies of it, and that is told. */
        bool in_child = number == SYS_close_range;
        CHECK_EQ(forkless_pidfd(child) < 0, number == SYS_pidfd_open);
        if (!in_child)
            CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK_EQ(status.code, in_child ? SIGSYS : SIGKILL);
        CHECK(!in_child || !status.execed);
        forkless_child_free(child);
    }
    CHECK_EQ(traps > 0, number != SYS_close_range);
    forkless_command_free(c);
    check_no_child();
}

TEST(b63_traps) {
    in_process(trapped, SYS_clone3);
    in_process(trapped, SYS_close_range);
    in_process(trapped, SYS_pidfd_open);
    in_process(trapped, SYS_pidfd_send_signal);
}

/* ---- B29: vfork is run as fork ---- */

#ifdef __x86_64__
/* Follows the tracee alone; takes these flags from each clone. */
static void strip_flags(pid_t tracee, unsigned long flags) {
    struct user_regs_struct r;
    int status;
    bool entering = true;
    CHECK_EQ(waitpid(tracee, &status, 0), tracee);
    CHECK_EQ(ptrace(PTRACE_SETOPTIONS, tracee, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
    for (int signal = 0;;) {
        CHECK_EQ(ptrace(PTRACE_SYSCALL, tracee, 0, signal), 0);
        CHECK_EQ(waitpid(tracee, &status, 0), tracee);
        if (!WIFSTOPPED(status))
            break;
        signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal)
            continue;
        CHECK_EQ(ptrace(PTRACE_GETREGS, tracee, 0, &r), 0);
        if (entering && r.orig_rax == SYS_clone) {
            r.rdi &= ~flags;
            CHECK_EQ(ptrace(PTRACE_SETREGS, tracee, 0, &r), 0);
        }
        entering = !entering;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        _exit(77);
    CHECK_EQ(status, 0);
}

static _Noreturn void traced(void) {
    static struct snapshot before;
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
        skip_test("no ptrace");
    raise(SIGSTOP);
    refuse(SYS_clone3, ENOSYS);
    fails(forkless_spawn, good, -ENOTSUP, FORKLESS_STEP_CLONE, -1);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++) {
        fails(launchers[l], good, -ENOTSUP, FORKLESS_STEP_CLONE, -1);
        fails(launchers[l], bad, -ENOTSUP, FORKLESS_STEP_CLONE, -1);
    }
    snapshot_check(&before);
    _exit(0);
}

TEST(b29_vfork_is_run_as_fork) {
    pid_t tracee = forked();
    if (tracee == 0)
        traced();
    strip_flags(tracee, CLONE_VM | CLONE_VFORK);
}
#endif

/* The verdict is not that of a child which was killed. */
TEST(b29_the_test_child_is_killed) {
    forkless_command *c = probe("exit", "7", NULL);
    refuse(SYS_clone3, ENOSYS);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_exit_group};
    held_begin(&h);
    CHECK_EQ(kill(h.pid, SIGKILL), 0);
    held_next(&h); /* the command's own end */
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* A pidfd is as good where clone made the child. */
TEST(b120_pidfd_after_clone) {
    refuse(SYS_clone3, EPERM);
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_pidfd(child);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
        CHECK_EQ(poll(&p, 1, 0), 0);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(poll(&p, 1, 15000), 1);
        ends(child, FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef __x86_64__
        cmocka_unit_test(b29_vfork_is_run_as_fork),
#endif
        cmocka_unit_test(b29_the_test_child_is_killed),
        cmocka_unit_test(b37_again_after_eagain),
        cmocka_unit_test(b60_b103_clone3_refused),
        cmocka_unit_test(b103_a_refusal_is_remembered),
        cmocka_unit_test(b103_both_refused),
        cmocka_unit_test(b63_traps),
        cmocka_unit_test(b120_pidfd_after_clone),
    };
    return RUN(tests);
}
