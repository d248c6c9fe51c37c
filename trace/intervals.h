/* What lies between two moments of a creation, by name. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "phases.h"

/* In the order in which they come; the last four lie across the others. */
enum interval {
    INTERVAL_CREATE, /* asked to created */
    INTERVAL_WAKE,   /* created to its first run */
    INTERVAL_ENTER,  /* to its first instruction */
    INTERVAL_SET_UP, /* to its exec */
    INTERVAL_EXEC,   /* until its program is replaced */
    INTERVAL_LOAD,   /* to the first instruction of the target */
    INTERVAL_RUN,    /* to its end; without an exec, from its own first instruction */
    INTERVAL_REAP,   /* until it is reaped */
    INTERVAL_WAITED, /* without a CPU, of the time until its exec or end */
    INTERVAL_CALL,   /* asked to returned */
    INTERVAL_READY,  /* asked to the first instruction of the target */
    INTERVAL_TOTAL,  /* asked to reaped */
    INTERVALS
};

/* "create" */
extern const char *const interval_names[INTERVALS];

enum { INTERVAL_UNKNOWN = -1 };

/* ns, or INTERVAL_UNKNOWN for those that did not happen or were not seen. */
void intervals_of(const struct phases_record *, int64_t out[INTERVALS]);

#endif
