/* One sample of one cell: the clock is read here and nowhere else. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "cell.h"

struct sample { /* ns */
    int64_t call, ready, total, cpu;
};

struct sampler {
    const struct cell *cell;
    int stamps; /* the reading end of the targets' standard output; does not block */
    bool has_stamps;
    struct born born[AT_ONCE_MAX];
    char problem[200]; /* why the last sample failed, */
    bool unsupported;  /* or that this kernel, or a filter, does not allow it */
};

/* 0, or -1 with `problem`. No child is left in either case. */
int sample_take(struct sampler *, struct sample *);

#endif
