/* Runs a matrix: rounds of blocks, each a fresh process started through libforkless, checked from
 * outside. */
#ifndef RUNNER_H
#define RUNNER_H

#include <stdbool.h>

#include "matrix.h"
#include "record.h"

struct run {
    const struct matrix *matrix;
    struct record *record;
    unsigned rounds;
    uint64_t seed;
    unsigned deadline_s; /* of one block; 0: what its plan makes of it */
    const bool *done;    /* [round * cells + cell]: what was measured before; NULL: a new run */
    int signals;         /* readable when somebody wants to end the run */

    bool interrupted;
    int code;        /* -errno of a record that could not be written */
    unsigned failed; /* cells of a round that failed or timed out */
};

/* Runs it to its end, an interruption or an error of the record. 0 or -errno. */
int runner_run(struct run *);

#endif
