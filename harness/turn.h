/* One thread's share of a sample. The clock is read here, and at the release of several spawners.
 */
#ifndef TURN_H
#define TURN_H

#include "case.h"

struct turn {
    const struct strategy *strategy;
    unsigned want; /* children */
    struct born *born;
    void (*between)(void *argument); /* called when all have been started; NULL: nothing */
    void *argument;

    /* What came of it. */
    unsigned made;
    int64_t called, returned, reaped; /* CLOCK_MONOTONIC, ns */
    int64_t cpu;                      /* of the thread and its children, ns */
    char problem[200];                /* why it failed, */
    bool unsupported;                 /* or that this kernel, or a filter, does not allow it */
};

/* The first problem stays; `rc`, an errno below 0 or 0, says whether it is the kernel's. */
__attribute__((format(printf, 3, 4))) void turn_fail(struct turn *, int rc, const char *format,
                                                     ...);
/* Whether a target ended as it should, else with a problem. */
void turn_check(struct turn *, const struct ended *);

/* Starts the children, one after the other, then reaps them all. */
void turn_take(struct turn *);

#endif
