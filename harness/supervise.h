/* One block, from outside: started through libforkless, given a deadline, asked what it is, ended
 * with all its children. */
#ifndef SUPERVISE_H
#define SUPERVISE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cell.h"

struct supervision {
    json_t *order;          /* as block.h has it */
    struct ballast ballast; /* the same, for who looks from outside */
    unsigned deadline_s;
    int signals; /* readable when somebody wants to end the run */

    /* What came of it. */
    json_t *cells; /* what the block said of its cells, in an array; the caller's to drop */
    bool verified; /* it had its ballast when it said the last of that: else none of it counts */
    const char *state; /* NULL: all well; else the state of the cells that do not count, */
    char reason[256];  /* and why */
    uint64_t resident;
    json_t *traced; /* the lines of the tracer, in an array, or NULL; the caller's to drop */
    bool interrupted;
};

/* Returns when the block and its children are gone. */
void supervise(struct supervision *);

#endif
