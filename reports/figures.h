#pragma once

#include "run.h"
#include "units.h"

/* What figures are of: most are times, in ns. */

/* The end of a key that holds one: "_ns", "_bytes", or nothing for a count. */
const char *figure_suffix(enum figure figure);

/* "83 us", "44.6 MiB", "1009"; "-" of NaN. */
struct label label_figure(enum figure figure, double amount);
