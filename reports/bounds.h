#pragma once

#include "run.h"

/* What must hold of a run, kept as data in results/bounds.json. */

/* A rate is of spawns: the children of a sample by its figure. */
enum kind { VALUE, DIFFERENCE, RATIO, RATE_RATIO, SLOPE, SLOPE_RATIO, KINDS };

struct bound {
    char *id;
    char *says; /* one sentence */
    enum kind kind;
    enum figure figure;
    double percentile;
    char *of;    /* a cell by its name, or for a slope over the sizes a strategy */
    char *along; /* the axis that a slope is over; NULL: the size */
    char *over;  /* the divisor of a ratio, or what a difference takes away; NULL: neither */
    double per;  /* a difference is divided by */
    double limit;
    bool at_least; /* else at most */
};

struct bounds {
    size_t count;
    struct bound *list;
};

/* False when the file is refused; *error is then one malloced sentence. */
bool bounds_read(const char *path, struct bounds *bounds, char **error);
void bounds_free(struct bounds *bounds);

/*
 * What they ask of a run: a bound whose cell has a `*` is there for every cell of the run whose
 * name has anything but a `/` in its place and no bound of its own, with that for each `*` in it;
 * as it is when there is none. bounds_free() ends it.
 */
struct bounds bounds_for(const struct bounds *bounds, const struct run *run);
