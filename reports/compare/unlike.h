#pragma once

#include "run.h"

/*
 * In what two runs are unlike, so that they should not be compared, as one malloced phrase; NULL
 * when they are not.
 */
char *unlike_hosts(const struct run *a, const struct run *b);

/* In the values that the axes of the cells have that `counts` picks. */
char *unlike_axes(const struct run *a, const struct run *b,
                  bool (*counts)(const struct cell *, const void *), const void *context);

bool same_axes(const struct axes *a, const struct axes *b);
