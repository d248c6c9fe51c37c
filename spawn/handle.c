/* The child's handle: what it is, its pidfd, its end. */
#include "handle.h"

#include <errno.h>
#include <sys/wait.h>

#include "arch/syscall.h"
#include "helper.h"
#include "own.h"
#include "pipe.h"
#include "reap.h"
#include "run.h"

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

struct fl_cancel fl_handle_lock(forkless_child *child) {
    struct fl_cancel before = fl_cancel_hold();
    pthread_mutex_lock(&child->lock);
    return before;
}

void fl_handle_unlock(forkless_child *child, struct fl_cancel before) {
    pthread_mutex_unlock(&child->lock);
    fl_cancel_release(before);
}

int fl_pidfd(forkless_child *child) {
    if (child->pidfd >= 0)
        return child->pidfd;
    if (child->reaped)
        return -ESRCH;
    int fd = (int)fl_above_stderr(fl_syscall(SYS_pidfd_open, child->pid, 0, 0, 0, 0));
    if (fd < 0)
        return fd;
    if (!fl_is_ours(child)) {
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
    struct fl_cancel before = fl_handle_lock(child);
    int fd = fl_pidfd(child);
    fl_handle_unlock(child, before);
    return fd;
}

static void end(forkless_child *child) {
    int fd = atomic_exchange(&child->pidfd, -1);
    fl_pipes_close_ours(child);
    fl_helper_close_ours(child);
    fl_run_free(child);
    int cgroup = child->cgroup_kept;
    child->cgroup_kept = -1;
    fl_slot_end(child);
    fl_close(fd);
    fl_close(cgroup);
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
