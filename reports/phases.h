#pragma once

#include "medians.h"

/* Where the time of a spawn goes, as the kernel told it of cells that it looked at. */

/* What each phase is, in one sentence. */
extern const char phases_detail[];

bool tells_phases(const struct run *run, const struct cell *cell);

/* The phases of one place, a column for each strategy; then what the cells take beside the same
 * that were not traced. Marks the cells. */
struct medians phases_make(const struct view *view, struct axes axes, struct marks *marks);
