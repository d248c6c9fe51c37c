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

double load_average(void);

#endif
