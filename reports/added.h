#pragma once

#include "analysis.h"
#include "medians.h"

/* What an attribute adds: the difference from the same cell without it, within each round. */

/* Whether the run has both in some round. */
bool tells_added(const struct run *run, const struct cell *cell);

/* Such a difference in words, malloced: "1.5 us (1.3 to 1.8)". */
char *describe_added(const struct estimate *added);

/* To `call`: a row for each attribute beside these axes, a column for each strategy that takes
 * attributes. Marks the cells. */
struct medians attributes_added(const struct view *view, struct axes axes, struct marks *marks);
