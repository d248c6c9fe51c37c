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

/*
 * The value of the axis from which on a figure of the first is larger than of the other, by the
 * lines of each round. Below 0: at any value; infinite, as an end of the interval may be: at none.
 * Of no rounds where one has no second value of the axis.
 */
struct estimate estimate_crossing_along(const struct run *run, const char *axis,
                                        const struct cell *cell, const struct cell *other,
                                        enum figure figure);

/* The one further axis that a cell has, malloced: "mappings"; NULL: none, or several, or it is
 * simulated and stands in no line with others. */
char *single_axis(const struct cell *cell);
/* The cells that are like one but for that axis, and not simulated, the one without it first where
 * there is one, then in the order of the run. Malloced. */
const struct cell **find_along(const struct run *run, const char *axis, const struct cell *like,
                               size_t *count);
