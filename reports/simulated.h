#pragma once

#include "tables.h"

/*
 * Memory that is simulated (pages:simulated) against real memory of the same size. Where the call
 * of a strategy that was measured in both differs by more than a half, all simulated cells of that
 * size and above are made unsupported: "simulation off by 1.8".
 */
void judge_simulated(struct run *run);

/* Real over simulated, where the run has simulated cells: a row for each size with both. */
bool has_simulated(const struct run *run);
void show_simulated(const struct run *run, show_table *show, void *to);
