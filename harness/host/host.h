/* What the figures of a run depend on, and what disturbs them. */
#ifndef HOST_H
#define HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "build.h"

/* The `host` of a run line. */
json_t *host_describe(void);

bool host_virtual(void); /* the CPU says that a hypervisor is there */

/* Each writes one of its fields, or gives false: it cannot be seen from here. */
bool host_hypervisor(char *out, size_t size);
bool host_thp(char *out, size_t size);
bool host_overcommit(uint64_t *mode);
bool host_governor(char *out, size_t size);
bool host_turbo(bool *on);
json_t *host_mitigations(void); /* what the kernel says of each flaw of the CPU, by its name */

/* Whether this process may load tracing programs; also true where the kernel does not say. */
bool host_may_trace(void);

struct cpu_time { /* of all CPUs, in ticks since boot */
    uint64_t all, used, stolen;
};
struct cpu_time cpu_time_read(void);
double cpu_time_steal(struct cpu_time before, struct cpu_time after);

double load_average(void);

#endif
