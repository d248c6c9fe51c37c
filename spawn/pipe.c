#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>

#include "arch/syscall.h"
#include "error.h"
#include "own.h"

static int open_pipe(forkless_child *slot, int child_fd, bool reads, forkless_error *error) {
    struct fl_pipe *pipe = &slot->pipes[slot->pipe_count];
    int ends[2], rc = fl_own_pipe(ends, 0);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_PIPE, child_fd, NULL);
    pipe->child_fd = child_fd;
    pipe->theirs = ends[reads ? 0 : 1];
    atomic_store_explicit(&pipe->ours, ends[reads ? 1 : 0], memory_order_relaxed);
    slot->pipe_count++;
    return 0;
}

/* Ours never blocks, the child's does: they are two open files. */
static int open_for_run(forkless_child *slot, int child_fd, forkless_error *error) {
    int rc = open_pipe(slot, child_fd, child_fd == 0, error);
    if (rc < 0)
        return rc;
    int ours = slot->pipes[slot->pipe_count - 1].ours;
    rc = (int)fl_syscall(SYS_fcntl, ours, F_SETFL, O_NONBLOCK, 0, 0);
    return rc < 0 ? fl_error(error, rc, FORKLESS_STEP_PIPE, child_fd, NULL) : 0;
}

/* Another descriptor of the child's end that was made last. */
static int open_same(forkless_child *slot, int child_fd, forkless_error *error) {
    struct fl_pipe *pipe = &slot->pipes[slot->pipe_count];
    long fd = fl_syscall(SYS_fcntl, pipe[-1].theirs, F_DUPFD_CLOEXEC, 3, 0, 0);
    if (fd < 0)
        return fl_error(error, (int)fd, FORKLESS_STEP_PIPE, child_fd, NULL);
    pipe->child_fd = child_fd;
    pipe->theirs = (int)fd;
    atomic_store_explicit(&pipe->ours, -1, memory_order_relaxed);
    slot->pipe_count++;
    return 0;
}

int fl_pipes_open(forkless_child *slot, const struct fl_extra_pipes *extra, forkless_error *error) {
    const struct fl_descriptors *d = &slot->command->descriptors;
    int rc = 0;
    for (size_t i = 0; rc == 0 && slot->pipe_count < d->pipes; i++)
        if (d->sources[i].kind == FL_PIPE)
            rc = open_pipe(slot, d->sources[i].to, d->sources[i].flags == FORKLESS_READS, error);
    if (rc == 0 && extra->input)
        rc = open_for_run(slot, 0, error);
    if (rc == 0 && extra->output)
        rc = open_for_run(slot, 1, error);
    if (rc == 0 && extra->errors)
        rc = extra->merged ? open_same(slot, 2, error) : open_for_run(slot, 2, error);
    return rc;
}

void fl_pipes_close_theirs(forkless_child *slot) {
    for (unsigned i = 0; i < slot->pipe_count; i++) {
        fl_close(slot->pipes[i].theirs);
        slot->pipes[i].theirs = -1;
    }
}

void fl_pipes_close_ours(forkless_child *slot) {
    for (unsigned i = 0; i < slot->pipe_count; i++)
        fl_close(atomic_exchange(&slot->pipes[i].ours, -1));
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
