#pragma once

#include "analysis.h"

/*
 * Growth along an axis other than the size: over the cells that are like one but for it. In their
 * names it stands as "mappings:1000", or not at all: 0.
 */

/* The ratio of the slopes of two such cells, each round's. Of no rounds where one has no second
 * value of the axis. */
struct estimate estimate_ratio_along(const struct run *run, const char *axis,
                                     const struct cell *cell, const struct cell *over,
                                     enum figure figure);
/* Of one, in ns for each step. */
struct estimate estimate_slope_along(const struct run *run, const char *axis,
                                     const struct cell *cell, enum figure figure);
