#pragma once

#include "run.h"

#include <stdio.h>

/*
 * The last lines of the page: what the floor and the null cell are, which run this was, how much of
 * it was measured, and what kept the rest from it, but for the cells that `explained` marks.
 */
void foot_print(const struct run *run, bool *explained, FILE *out);
