/* What has been done so far. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdatomic.h>

enum figure {
    SPAWNED,
    STARTED,
    RUN,
    RUN_STARTED,
    FREED_RUNNING,
    SHARED, /* handles that two threads had */
    OVERRIDDEN,
    HELPED,
    EXITED,
    DIED, /* of a signal */
    EXEC_ERRORS,
    TIMEOUTS,
    LIMITED,
    NOT_DEAD_IN_TIME, /* a grace after SIGKILL */
    HELD_BY_OTHERS,   /* outputs, longer than grace */
    CAPTURED,         /* bytes */
    HIT_KILL,
    HIT_TERM,
    HIT_USR1,
    HIT_STOP,
    STRAYS, /* grandchildren that came to us */
    FORKS,
    FIGURES
};

extern atomic_long figures[FIGURES];

static inline void count(enum figure f, long by) {
    atomic_fetch_add_explicit(&figures[f], by, memory_order_relaxed);
}

void figures_print(void);

#endif
