/* What the control groups of this process leave it. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "files.h"

#define CGROUP_UNLIMITED UINT64_MAX

struct cgroup {
    int version;           /* 2: the unified hierarchy alone; else 1 */
    uint64_t memory, pids; /* the least that the own group and those above it leave */
    /* Of the group that leaves the least of these: where it is, and how many it has. */
    char pids_folder[FILES_PATH];
    uint64_t pids_used;
    double cpus;                 /* the least quota, in CPUs; 0: none */
    uint64_t periods, throttled; /* since that quota was set: all, and those in which it ran out */
};

/* False when the kernel does not say in which groups we are. */
bool cgroup_read(struct cgroup *);

#endif
