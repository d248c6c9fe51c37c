/* The child's handle: what it is, its pidfd, signals to it, its end. */
#include "handle.h"

#include <errno.h>
#include <sys/wait.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "helper.h"
#include "own.h"
#include "pipe.h"
#include "reap.h"

const char *forkless_mechanism_name(enum forkless_mechanism mechanism) {
    switch (mechanism) {
    case FORKLESS_CLONE3_VM:
        return "clone3_vm";
    case FORKLESS_CLONE3_VFORK:
        return "clone3_vfork";
    case FORKLESS_CLONE_VFORK:
        return "clone_vfork";
    }
    return "unknown";
}

enum forkless_mechanism forkless_mechanism(const forkless_child *child) {
    return fl_slot_is_held(child) ? child->mechanism : (enum forkless_mechanism)0;
}

enum forkless_mechanism forkless_mechanism_asked(const forkless_child *child) {
    return fl_slot_is_held(child) ? child->asked : (enum forkless_mechanism)0;
}

pid_t forkless_pid(const forkless_child *child) {
    return fl_slot_is_held(child) ? child->pid : -EINVAL;
}

static struct fl_cancel lock(forkless_child *child) {
    struct fl_cancel before = fl_cancel_hold();
    pthread_mutex_lock(&child->lock);
    return before;
}

static void unlock(forkless_child *child, struct fl_cancel before) {
    pthread_mutex_unlock(&child->lock);
    fl_cancel_release(before);
}

/* Whether the pid is still our child's, dead or alive: somebody else may have waited for it. */
static bool still_ours(const forkless_child *child) {
    siginfo_t info;
    return fl_waitid(child, WEXITED | WNOHANG | WNOWAIT | __WALL, &info, NULL) == 0;
}

int fl_pidfd(forkless_child *child) {
    if (child->pidfd >= 0)
        return child->pidfd;
    if (child->reaped)
        return -ESRCH;
    int fd = (int)fl_syscall(SYS_pidfd_open, child->pid, 0, 0, 0, 0);
    if (fd < 0)
        return fd;
    if (!still_ours(child)) {
        fl_close(fd);
        return -ESRCH;
    }
    child->pidfd = fd;
    return fd;
}

int forkless_pidfd(forkless_child *child) {
    if (child && !fl_slot_is_ours(child))
        return -ESRCH;
    if (!fl_slot_is_held(child))
        return -EINVAL;
    struct fl_cancel before = lock(child);
    int fd = fl_pidfd(child);
    unlock(child, before);
    return fd;
}

static int send(forkless_child *child, int signal) {
    if (child->reaped) /* by the kernel itself it may not be gone yet for a pidfd */
        return -ESRCH;
    int fd = fl_pidfd(child);
    if (fd == -ESRCH)
        return fd;
    long rc = -ENOSYS;
    if (fd >= 0)
        rc = fl_syscall(SYS_pidfd_send_signal, fd, signal, 0, 0, 0);
    /* No pidfd to be had, or a filter that knows no such call; if it is a real error, kill will say
     * so again. */
    if (rc == -ENOSYS || rc == -EPERM || rc == -EINVAL)
        rc = still_ours(child) ? fl_syscall(SYS_kill, child->pid, signal, 0, 0, 0) : -ESRCH;
    return (int)rc;
}

int forkless_kill(forkless_child *child, int signal, enum forkless_whom whom) {
    if (child && !fl_slot_is_ours(child))
        return -ESRCH;
    if (!fl_slot_is_held(child) || whom != FORKLESS_CHILD)
        return -EINVAL;
    struct fl_cancel before = lock(child);
    int rc = send(child, signal);
    unlock(child, before);
    return rc;
}

static void end(forkless_child *child) {
    int fd = atomic_exchange(&child->pidfd, -1);
    fl_pipes_close_ours(child);
    fl_helper_close_ours(child);
    fl_slot_end(child);
    fl_close(fd);
}

void forkless_child_free(forkless_child *child) {
    if (!child || !fl_slot_is_ours(child))
        return;
    struct fl_cancel before = fl_cancel_hold();
    int saved = errno;
    if (atomic_exchange(&child->held, false))
        end(child);
    errno = saved;
    fl_cancel_release(before);
}
