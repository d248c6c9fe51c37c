#pragma once

#include "tables.h"

/* Real over simulated, where the run has simulated cells: a row for each place with both. */
bool has_simulated(const struct run *run);
void show_simulated(const struct run *run, show_table *show, void *to);
