#include "pipe.h"

#include <errno.h>
#include <fcntl.h>

#include "arch/syscall.h"
#include "error.h"

static void close_fd(long fd) {
    if (fd >= 0)
        fl_syscall(SYS_close, fd, 0, 0, 0, 0);
}

/* A new descriptor is never one of the first three, whatever of them the host has closed. */
static long above_stderr(long fd) {
    if (fd < 0 || fd > 2)
        return fd;
    long above = fl_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0);
    close_fd(fd);
    return above;
}

static long open_pipe(struct fl_pipe *pipe, const struct fl_source *source) {
    int ends[2];
    long rc = fl_syscall(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0, 0);
    if (rc < 0)
        return rc;
    bool reads = source->flags == FORKLESS_READS;
    long theirs = above_stderr(ends[reads ? 0 : 1]), ours = above_stderr(ends[reads ? 1 : 0]);
    if (theirs < 0 || ours < 0) {
        close_fd(theirs);
        close_fd(ours);
        return theirs < 0 ? theirs : ours;
    }
    pipe->child_fd = source->to;
    pipe->theirs = (int)theirs;
    atomic_store_explicit(&pipe->ours, (int)ours, memory_order_relaxed);
    return 0;
}

int fl_pipes_open(forkless_child *slot, forkless_error *error) {
    const struct fl_descriptors *d = &slot->command->descriptors;
    for (size_t i = 0; slot->pipe_count < d->pipes; i++) {
        if (d->sources[i].kind != FL_PIPE)
            continue;
        long rc = open_pipe(&slot->pipes[slot->pipe_count], &d->sources[i]);
        if (rc < 0) {
            fl_pipes_close_theirs(slot);
            fl_pipes_close_ours(slot);
            return fl_error(error, (int)rc, FORKLESS_STEP_PIPE, d->sources[i].to, NULL);
        }
        slot->pipe_count++;
    }
    return 0;
}

void fl_pipes_close_theirs(forkless_child *slot) {
    for (unsigned i = 0; i < slot->pipe_count; i++) {
        close_fd(slot->pipes[i].theirs);
        slot->pipes[i].theirs = -1;
    }
}

void fl_pipes_close_ours(forkless_child *slot) {
    for (unsigned i = 0; i < slot->pipe_count; i++)
        close_fd(atomic_exchange(&slot->pipes[i].ours, -1));
}

int forkless_child_pipe(forkless_child *child, int child_fd) {
    if (!fl_slot_is_held(child))
        return child && !fl_slot_is_ours(child) ? -EBADF : -EINVAL;
    for (unsigned i = 0; i < child->pipe_count; i++)
        if (child->pipes[i].child_fd == child_fd) {
            int fd = atomic_exchange(&child->pipes[i].ours, -1);
            return fd < 0 ? -EBADF : fd;
        }
    return -EBADF;
}
