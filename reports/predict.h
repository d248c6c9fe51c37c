#pragma once

#include "run.h"

#include <stdio.h>

/*
 * Prints how long one child would hold a caller of this size, between the sizes that were measured
 * and beyond them by a line, for those strategies that people know. False when the run has no such
 * line for fork; *error is then one malloced sentence, and nothing was printed.
 */
bool predict_print(const struct run *run, int64_t bytes, FILE *out, char **error);
