#pragma once

#include "analysis.h"

/*
 * What was measured and yet does not stand. Memory that is simulated (pages:simulated) is held
 * against real memory of the same size: where fork's call with real memory is off by more than a
 * half, all simulated cells of that size and above are made unsupported: "simulation off by 1.8".
 */

/* A run as it is read, and judged. NULL when the file is refused, as run_read() has it. */
struct run *read_judged(const char *path, char **error);

bool is_simulated(const struct cell *cell);

/* Of fork's call, which is what is simulated, with the same cell of real memory; of no rounds where
 * it cannot be told. */
struct estimate real_over_simulated(const struct run *run, const struct cell *simulated);
