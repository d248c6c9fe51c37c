#pragma once

#include "view.h"

#include <stdio.h>

/*
 * What the tables mean, in a few sentences: what fork costs, which strategy holds its caller least,
 * when that one's child is ready, what bursts cost. Prints nothing where nothing was measured.
 */
void verdict_print(const struct view *view, FILE *out);
