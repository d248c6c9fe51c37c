#pragma once

#include "view.h"

/*
 * What the tables mean, in a few sentences: what fork costs, which strategy holds its caller least,
 * when that one's child is ready, what bursts cost. Malloced; NULL where nothing was measured.
 */
char *describe_verdict(const struct view *view);
