#pragma once

#include "run.h"

/* What must hold of a run, kept as data in results/bounds.json. */

enum kind { VALUE, RATIO, SLOPE, SLOPE_RATIO, KINDS };

struct bound {
    char *id;
    char *says; /* one sentence */
    enum kind kind;
    enum figure figure;
    double percentile;
    char *of;   /* a cell by its name, or for a slope a strategy */
    char *over; /* the divisor of a ratio */
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
