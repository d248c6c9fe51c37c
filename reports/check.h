#pragma once

#include "bounds.h"

#include <stdio.h>

/*
 * Prints of each bound what the run says: it holds when the far end of the 95% interval is within
 * the limit, is missed when the near end is beyond it, and is undecided otherwise and with fewer
 * than ten rounds. Returns how many were missed; a quick run decides none.
 */
size_t check_bounds(const struct bounds *bounds, const struct run *run, FILE *out);
