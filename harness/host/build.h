/* The build that measures. */
#ifndef BUILD_H
#define BUILD_H

#include <jansson.h>

/* The `build` of a run line. */
json_t *build_describe(void);

/* Why this build's figures would mislead, or NULL. */
const char *build_objection(void);

#endif
