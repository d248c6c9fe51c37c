/* A run: a child whose input, outputs and time the library looks after. Private. */
#ifndef FL_RUN_H
#define FL_RUN_H

#include <poll.h>

#include "slot.h"
#include "start.h"
#include "stream.h"

struct fl_run {
    struct fl_input input;
    struct fl_output outputs[2];
    enum forkless_at_limit at_limit;
    int64_t deadline, grace, linger;
    enum forkless_whom whom;

    enum { LIVES, TERMINATED, KILLED } ending;
    int64_t next, look; /* of ending: SIGKILL or giving up; the next look, when it has exited */
    int64_t nap;        /* before the one after that */
    bool exited;
    bool traced;     /* its pidfd says that it has exited, and a tracer has still to see that */
    int64_t drained; /* when reading ends at the latest; from its exit on */
    bool over, taken;
    bool timed_out, limited, writers_remained, survivors;
    int epoll, watched;    /* the pidfd in it; -1: none */
    bool driven;           /* a thread sees to it that what is due is done, */
    _Atomic uint32_t turn; /* and this changes when it does so no more */
};

/* ---- run_loop.c ---- */

/* Whatever there is to wait for. */
struct fl_ready {
    struct pollfd fds[4];
    unsigned count;
};

/* What there is to wait for now; with the lock held. */
void fl_run_interest(const forkless_child *, struct fl_ready *);
/* When it is due without that: a time, or FORKLESS_NEVER. */
int64_t fl_run_next(const forkless_child *);
/* Does what can be done without waiting; with the lock held. */
void fl_run_step(forkless_child *, const struct fl_ready *);

/* 0: it is over; -ETIMEDOUT. */
int fl_run_await(forkless_child *, int64_t deadline_ns);
/* A descriptor for event loops, or -errno; with the lock held. */
int fl_run_fd(forkless_child *);
/* One of its ends, which is -1 then. */
void fl_run_close(struct fl_run *, int *fd);

/* As at its deadline, which has not to have come; with the lock held. */
void fl_run_end(forkless_child *);

/* ---- run.c ---- */

/* As forkless_run_start(), and as `more` says; but what is neither fed nor captured is no run,
 * whatever its deadline. */
int fl_run_start_batched(const forkless_command *, const forkless_run_options *,
                         const struct fl_start *more, forkless_child **out, forkless_error *);
/* Makes a run of such a child, which is to be ended. False: no memory. */
bool fl_run_adopt(forkless_child *, const forkless_run_options *);

void fl_run_free(forkless_child *);

#endif
