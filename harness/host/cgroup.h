/* What the control groups of this process leave it. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_UNLIMITED UINT64_MAX

struct cgroup {
    int version;                 /* 2: the unified hierarchy alone; else 1 */
    uint64_t memory, pids;       /* the least that the own group and those above it leave */
    double cpus;                 /* the least quota, in CPUs; 0: none */
    uint64_t periods, throttled; /* since that quota was set: all, and those in which it ran out */
};

/* False when the kernel does not say in which groups we are. */
bool cgroup_read(struct cgroup *);

#endif
