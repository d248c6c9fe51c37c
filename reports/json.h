#pragma once

#include "run.h"

#include <stdio.h>

/*
 * Writes the whole analysis of a run as one JSON object; docs/analysis.md says what its keys mean.
 * A key is absent where its value cannot be told.
 */
void write_json(const struct run *run, FILE *out);
