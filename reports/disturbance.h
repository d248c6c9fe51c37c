#pragma once

#include "run.h"

/*
 * "2 of 160 blocks were disturbed (...)" as a malloced sentence without its full stop; NULL when
 * none was.
 */
char *describe_disturbance(const struct run *run);

/* What the warnings among the findings found, each once, as a malloced array of the run's texts. */
const char **find_warnings(const struct run *run, size_t *count);
