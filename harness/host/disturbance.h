/* What else went on while a block ran. */
#ifndef DISTURBANCE_H
#define DISTURBANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

/* Since boot, or since this process began. */
struct activity {
    struct cpu_time cpus;
    double own_seconds;              /* of this process and the children it reaped */
    uint64_t voluntary, involuntary; /* context switches of those children */
};

struct activity activity_now(void);

struct disturbance {
    double steal, other; /* shares of all CPU time: the hypervisor's, other programs' */
    uint64_t voluntary, involuntary;
    char says[80]; /* in words, when it is enough to doubt the samples; else "" */
};

/* Between two moments; every child of the time must be reaped. */
struct disturbance disturbance_between(const struct activity *before, const struct activity *after);

#endif
