/* The kernel's own view of a block, by a program of trace/ that runs beside it. */
#ifndef TRACER_H
#define TRACER_H

#include <forkless.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cell.h"

struct tracer {
    forkless_child *child; /* NULL: none */
    int output, errors;    /* files in memory */
};

/* Looks at a process and its descendants from when it returns. False with a sentence in `why`, and
 * whether it is for lack of a program, a privilege or something of the kernel's. */
bool tracer_start(struct tracer *, enum traced, pid_t, char *why, size_t size, bool *unsupported);

/* Ends it. The lines that it wrote, in an array; NULL with a sentence in `why` when it failed. A
 * tracer that was never started has none. */
json_t *tracer_end(struct tracer *, char *why, size_t size);

#endif
