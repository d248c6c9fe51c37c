/* What the figures of a run depend on, and what disturbs them. */
#ifndef HOST_H
#define HOST_H

#include <jansson.h>
#include <stdint.h>

/* The `host` and `build` of a run line. */
json_t *host_describe(void);
json_t *build_describe(void);

/* Why this build's figures would mislead, or NULL. */
const char *build_objection(void);

struct cpu_time { /* of all CPUs, in ticks since boot */
    uint64_t all, stolen;
};
struct cpu_time cpu_time_read(void);
double cpu_time_steal(struct cpu_time before, struct cpu_time after);

double load_average(void);

#endif
