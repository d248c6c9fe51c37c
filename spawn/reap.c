#include "reap.h"

#include <errno.h>
#include <sys/wait.h>

#include "arch/syscall.h"

int fl_waitid(const forkless_child *child, unsigned options, siginfo_t *info,
              struct rusage *usage) {
    long rc;
    info->si_pid = 0;
    do {
        rc = -EINVAL;
        if (child->pidfd >= 0)
            rc = fl_syscall(SYS_waitid, P_PIDFD, child->pidfd, (long)info, options, (long)usage);
        if (rc < 0 && rc != -ECHILD && rc != -EINTR) /* before Linux 5.4, or a filter */
            rc = fl_syscall(SYS_waitid, P_PID, child->pid, (long)info, options, (long)usage);
    } while (rc == -EINTR);
    return (int)rc;
}

void fl_reap_failed(const forkless_child *child) {
    siginfo_t info;
    fl_waitid(child, WEXITED | __WALL, &info, NULL);
}

bool fl_reap_abandoned(const forkless_child *child) {
    if (atomic_load_explicit(&child->word, memory_order_acquire) != 0)
        return false;
    if (child->reaped)
        return true;
    if (child->record.code < 0) {
        fl_reap_failed(child);
        return true;
    }
    siginfo_t info;
    return fl_waitid(child, WEXITED | WNOHANG | __WCLONE, &info, NULL) < 0 || info.si_pid != 0;
}
