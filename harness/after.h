/*
 * What comes after a call: the parent writes all of its ballast once more, while the child lives or
 * when it is gone, and what that and the child's end take. The child is one that waits for a byte
 * on its standard input before it ends, and stamps the time before that and after it.
 */
#ifndef AFTER_H
#define AFTER_H

#include "turn.h"

/* Counts, bytes and ns. */
struct aftermath {
    int64_t faults;      /* of the parent while it wrote: minor ones, */
    int64_t time;        /* and how long it wrote */
    int64_t teardown;    /* from the child's last stamp until it was reaped; 0 without a child */
    int64_t switches;    /* of the parent in the calls of the turn: it went to sleep, */
    int64_t preemptions; /* or was made to wait */
    int64_t page_tables; /* of parent and child, before the parent wrote; 0: not known */
    int64_t peak; /* memory of both, what they share once, when it had written; 0: likewise */
};

struct after {
    bool is_living; /* it writes while the child lives */
    int stamps;     /* where the child's stamps are read */
    int input[2];   /* what the child reads, and what it waits for is written to */
    int saved;      /* descriptor 0 as it was */

    /* Of the present sample. */
    pid_t child;         /* 0: there is none */
    const char *problem; /* or NULL */
    const struct turn *turn;
    struct aftermath found;
    int64_t slept, waited; /* the parent's switches when they were last looked at */
};

/* Makes the children's standard input. 0 or -errno. */
int after_prepare(struct after *);
void after_cleanup(struct after *);

/* Before the turn, which gets after_between() for what comes between its calls; and after it, when
 * the first stamp has been read; the turn has failed then where the child had ended too early or
 * cannot be looked at. */
void after_begin(struct after *, struct turn *);
struct aftermath after_end(struct after *, struct turn *);

#endif
