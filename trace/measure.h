/* What a vfork-class start costs on this host, from a few that are made. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

struct measured {
    int64_t start,
        spawn;     /* medians: how long forkless_start() and forkless_spawn() hold their caller */
    int count;     /* of each; 0: it could not be measured, */
    char why[256]; /* as this says */
};

void measure(struct measured *);

#endif
