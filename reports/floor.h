#pragma once

#include "analysis.h"

/*
 * What the kernel takes for what a cell does: the raw call by hand in the same block. What slows a
 * whole block slows both, so that two runs are compared in multiples of it.
 */

/* The strategy that is a cell's floor. */
const char *floor_name(const struct cell *cell);

/* NULL where the cell is a floor itself or the null cell, or the run has none for it. */
const struct cell *find_floor(const struct run *run, const struct cell *cell);

/* One multiple a round, malloced; NaN where the cell or its floor was not measured. */
double *multiples_by_round(const struct run *run, const struct cell *cell, enum figure figure);

struct estimate estimate_multiple(const struct run *run, const struct cell *cell,
                                  enum figure figure);
