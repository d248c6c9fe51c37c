#include "reap.h"

#include <errno.h>
#include <sys/ioctl.h>
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

/* struct pidfd_info; glibc 2.36 has no such header. */
struct info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define GET_INFO  _IOWR(0xff, 11, struct info)
#define INFO_EXIT UINT64_C(8)

bool fl_exit_code(const forkless_child *child, int *code) {
    struct info info = {.mask = INFO_EXIT};
    int fd = child->pidfd;
    if (fd < 0 || fl_syscall(SYS_ioctl, fd, GET_INFO, (long)&info, 0, 0) < 0 ||
        !(info.mask & INFO_EXIT))
        return false;
    *code = info.exit_code;
    return true;
}

bool fl_is_ours(const forkless_child *child) {
    siginfo_t info;
    return fl_waitid(child, WEXITED | WNOHANG | WNOWAIT | __WALL, &info, NULL) == 0;
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
    unsigned kind = child->unknown ? __WALL : __WCLONE;
    return fl_waitid(child, WEXITED | WNOHANG | kind, &info, NULL) < 0 || info.si_pid != 0;
}
