#pragma once

#include "run.h"

/* What kept measurements from being taken; an equal state and reason is the same problem. */
struct problem {
    enum state state;
    const char *reason;
    const struct cell *first; /* of the cells that met it */
    const struct cell *last;
    size_t cells;
    size_t measurements;
};

/* A malloced array in the order of the cells, without the cells that `known` marks by their index.
 */
struct problem *find_problems(const struct run *run, const bool *known, size_t *count);

/*
 * Why a cell lacks a figure, as a malloced phrase. The cell is NULL when the run has no such; a
 * measured cell can lack only `ready`.
 */
char *why_missing(const struct run *run, const struct cell *cell);
