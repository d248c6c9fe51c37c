/* One sample of one cell. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "after.h"
#include "cell.h"
#include "spawners.h"
#include "victim.h"

enum { TOUCHED = 32 << 20 };

struct sample {     /* ns */
    int64_t called; /* CLOCK_MONOTONIC */
    int64_t call, ready, total, cpu;
    int64_t longest;        /* of many commands: what the caller was held at once */
    struct stall stall;     /* the longest of the victim, where there is one, */
    int64_t baseline;       /* and in a window as long without a spawn */
    struct aftermath after; /* where somebody looks */
};

struct sampler {
    const struct cell *cell;
    int stamps; /* the reading end of the targets' standard output; does not block */
    bool has_stamps;
    char *touched; /* TOUCHED bytes that the caller writes between spawns, where it does */
    struct spawners *spawners; /* NULL: the caller's thread alone */
    struct victim *victim;     /* NULL: there is none */
    unsigned watched;          /* samples that it has been watched in, */
    int64_t window;            /* and how long in the last */
    struct after *after;       /* NULL: nobody looks */
    struct born born[CHILDREN_MAX];
    struct turn turn; /* of the last sample, all spawners together: why it failed */
};

/* The first `window`, and each of a cell that spawns nothing. */
enum { NULL_WINDOW_NS = 1000000 };

/* 0, or -1 with a problem in `turn`. No child is left in either case. */
int sample_take(struct sampler *, struct sample *);

#endif
