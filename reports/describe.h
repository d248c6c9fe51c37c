#pragma once

#include "view.h"

/* Parts of a run as phrases; what is a pointer to char that can change is malloced. */

char *describe_host(const struct host *host);
char *describe_noise(const struct run *run);
char *describe_gap(int64_t gap, const char *between); /* "1 ms of work between spawns" */
const char *describe_target(const char *target);
char *describe_more(const struct axes *axes); /* "pages thp, load all"; "" when there is none */

/* "median of 8 rounds", or "medians of 5 to 8 rounds" where some cells have fewer. */
char *describe_rounds(const struct view *view);

/* "980 of 980 measured, 0 failed; resumed once" */
char *describe_counts(const struct run *run);
