#pragma once

#include "run.h"

/*
 * "2 of 160 blocks were disturbed (...)" as a malloced sentence without its full stop; NULL when
 * none was.
 */
char *describe_disturbance(const struct run *run);

/* The warnings among the findings, each once, in a malloced array. */
const struct finding **find_warnings(const struct run *run, size_t *count);
