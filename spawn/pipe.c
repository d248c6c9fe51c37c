#include "pipe.h"

#include <errno.h>

#include "error.h"
#include "own.h"

static int open_pipe(struct fl_pipe *pipe, const struct fl_source *source) {
    int ends[2], rc = fl_own_pipe(ends, 0);
    if (rc < 0)
        return rc;
    bool reads = source->flags == FORKLESS_READS;
    pipe->child_fd = source->to;
    pipe->theirs = ends[reads ? 0 : 1];
    atomic_store_explicit(&pipe->ours, ends[reads ? 1 : 0], memory_order_relaxed);
    return 0;
}

int fl_pipes_open(forkless_child *slot, forkless_error *error) {
    const struct fl_descriptors *d = &slot->command->descriptors;
    for (size_t i = 0; slot->pipe_count < d->pipes; i++) {
        if (d->sources[i].kind != FL_PIPE)
            continue;
        int rc = open_pipe(&slot->pipes[slot->pipe_count], &d->sources[i]);
        if (rc < 0)
            return fl_error(error, rc, FORKLESS_STEP_PIPE, d->sources[i].to, NULL);
        slot->pipe_count++;
    }
    return 0;
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
