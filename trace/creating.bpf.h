/* Which system calls create a process, execute a program or wait for one, on each architecture;
 * 32-bit programs have other numbers and registers. */
#ifndef CREATING_BPF_H
#define CREATING_BPF_H

#include "types.bpf.h"
#include "spawns.h"

struct asked {
    __u32 call;
    unsigned long first; /* argument */
};

#if defined(__TARGET_ARCH_x86)

enum { NR_CLONE = 56, NR_FORK = 57, NR_VFORK = 58, NR_EXECVE = 59, NR_EXECVEAT = 322 };
enum { COMPAT_EXECVEAT = 358, NR_WAIT4 = 61, NR_WAITID = 247, COMPAT_WAITID = 284 };

static bool is_compat(struct task_struct *task) {
    enum { TS_COMPAT = 2 };
    return task->thread_info.status & TS_COMPAT;
}

static unsigned long argument(struct pt_regs *regs, bool compat, int which) {
    switch (which) {
    case 0:
        return compat ? regs->bx : regs->di;
    case 1:
        return compat ? regs->cx : regs->si;
    case 2:
        return regs->dx;
    default:
        return compat ? regs->si : regs->r10;
    }
}

static long call_number(struct pt_regs *regs) {
    return (long)regs->orig_ax;
}

#elif defined(__TARGET_ARCH_arm64)

enum { NR_CLONE = 220, NR_FORK = -2, NR_VFORK = -3, NR_EXECVE = 221, NR_EXECVEAT = 281 };
enum { COMPAT_EXECVEAT = 387, NR_WAIT4 = 260, NR_WAITID = 95, COMPAT_WAITID = 280 };

static bool is_compat(struct task_struct *task) {
    enum { TIF_32BIT = 22 };
    return task->thread_info.flags >> TIF_32BIT & 1;
}

static unsigned long argument(struct pt_regs *regs, bool compat, int which) {
    (void)compat;
    switch (which) {
    case 0:
        return regs->regs[0];
    case 1:
        return regs->regs[1];
    case 2:
        return regs->regs[2];
    default:
        return regs->regs[3];
    }
}

static long call_number(struct pt_regs *regs) {
    return regs->syscallno;
}

#endif

/* The same on both. */
enum {
    COMPAT_FORK = 2,
    COMPAT_WAITPID = 7,
    COMPAT_EXECVE = 11,
    COMPAT_WAIT4 = 114,
    COMPAT_CLONE = 120,
    COMPAT_VFORK = 190,
    NR_CLONE3 = 435
};

/* Each system call of the host comes through here: most leave at once. */
static bool is_of_interest(long nr) {
    switch (nr) {
    case NR_CLONE:
    case NR_FORK:
    case NR_VFORK:
    case NR_EXECVE:
    case NR_EXECVEAT:
    case NR_CLONE3:
    case COMPAT_FORK:
    case COMPAT_VFORK:
    case COMPAT_CLONE:
    case COMPAT_EXECVE:
    case COMPAT_EXECVEAT:
        return true;
    default:
        return false;
    }
}

/* Which creation a system call asks for, if it does. */
static bool is_creation(struct pt_regs *regs, long nr, bool compat, struct asked *asked) {
    if (nr == (compat ? COMPAT_FORK : NR_FORK))
        asked->call = CALL_FORK;
    else if (nr == (compat ? COMPAT_VFORK : NR_VFORK))
        asked->call = CALL_VFORK;
    else if (nr == (compat ? COMPAT_CLONE : NR_CLONE))
        asked->call = CALL_CLONE;
    else if (nr == NR_CLONE3)
        asked->call = CALL_CLONE3;
    else
        return false;
    asked->first = argument(regs, compat, 0);
    return true;
}

static bool is_exec(long nr, bool compat) {
    return nr == (compat ? COMPAT_EXECVE : NR_EXECVE) ||
           nr == (compat ? COMPAT_EXECVEAT : NR_EXECVEAT);
}

static const char *executed_path(struct pt_regs *regs, long nr, bool compat) {
    return (const char *)argument(regs, compat, nr != (compat ? COMPAT_EXECVE : NR_EXECVE));
}

static bool is_wait(long nr) {
    switch (nr) {
    case NR_WAIT4:
    case NR_WAITID:
    case COMPAT_WAITPID:
    case COMPAT_WAIT4:
    case COMPAT_WAITID:
        return true;
    default:
        return false;
    }
}

/* Whose status a wait that returns took, as the waiter numbers it; 0: nobody's. */
static __s32 waited_for(struct pt_regs *regs, long nr, bool compat, long returned) {
    enum { WAIT_PID = 1, WAIT_NOTHING = 0x01000000 }; /* P_PID, WNOWAIT */
    if (nr == (compat ? COMPAT_WAIT4 : NR_WAIT4) || (compat && nr == COMPAT_WAITPID))
        return (__s32)returned;
    if (nr != (compat ? COMPAT_WAITID : NR_WAITID) || returned ||
        argument(regs, compat, 3) & WAIT_NOTHING)
        return 0;
    unsigned long info = argument(regs, compat, 2);
    __s32 pid = 0;
    if (info) /* its si_pid */
        bpf_probe_read_user(&pid, sizeof pid, (void *)(info + (compat ? 12 : 16)));
    else if (argument(regs, compat, 0) == WAIT_PID)
        pid = (__s32)argument(regs, compat, 1);
    return pid;
}

#endif
