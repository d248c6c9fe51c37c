/* clone3(CLONE_VM | CLONE_VFORK) and exec, by hand: as vfork, on a stack of its own. */
#include <signal.h>

#include "arch/syscall.h"
#include "raw.h"

FL_CHILD_CODE static void child(void *argument) {
    (void)argument;
    fl_syscall(SYS_execve, (long)raw_argv[0], (long)raw_argv, (long)environ, 0, 0);
    fl_syscall(SYS_exit_group, 127, 0, 0, 0, 0);
}

static int body(struct born *born) {
    /* The caller is held until the child has exec'd. */
    _Alignas(16) char stack[16 * 1024];
    struct fl_clone_args args = {
        .flags = FL_CLONE_VM | FL_CLONE_VFORK,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = sizeof stack,
    };
    long pid = fl_clone3(&args, sizeof args, child, NULL);
    born->pid = (pid_t)pid;
    return pid < 0 ? (int)pid : 0;
}

const struct strategy strategy_clone3 = {
    .name = "clone3",
    .prepare = raw_prepare,
    .body = body,
    .finish = raw_finish,
};
