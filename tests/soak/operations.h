/* What a worker does, each with random commands, from its beginning to the last of its children. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "plan.h"

/* Spawns and starts, and then waits, kills, asks, frees, one by one. */
void operation_children(struct worker *);
/* forkless_run(), and forkless_run_start() in an event loop. */
void operation_run(struct worker *);
/* More children than an operation ever has, and of those that need the most room; all workers have
 * theirs at the same time, so that nothing later needs more memory. */
void operation_fill(struct worker *, pthread_barrier_t *all_are_there);
extern atomic_int filled; /* workers that are past that */

/* ---- what they share: a child, and how it comes to its end ---- */

struct held {
    struct plan *plan;
    forkless_child *child;
    pid_t pid;
    bool answered; /* somebody has waited for it */
    bool all_read; /* what it wrote is here, in full: */
    size_t output, errors;
};

/* Starts one by spawn or start; false: it could not be executed, as it was to be. */
bool held_launch(struct worker *, struct held *);
/* Reads, ends, waits, checks and frees it, in one of many ways. */
void held_finish(struct worker *, struct held *);
/* Feeds it and reads its pipes. */
void held_pump(struct worker *, struct held *);
/* Frees the handle of one that may still run, and waits for it by other means. */
void held_abandon(struct worker *, struct held *);
/* Two answers about one child. */
void held_same(struct worker *, const forkless_status *, const forkless_status *);

#endif
