#pragma once

#include "analysis.h"
#include "run.h"

#include <stdio.h>

/*
 * hyperfine as the second clock: what a whole storm of children takes, from outside, beside the
 * `total` of a run. results/README.md says what each field of its file means.
 */

struct storms {
    char *strategy;
    double *ns; /* a spawn, by round; NaN where the storm is missing or too short to tell */
};

struct second_clock {
    char *path;
    struct host host;
    int64_t seed; /* this and the next: of the run that was made with it */
    char *started;
    int64_t children; /* of a storm */
    size_t rounds;
    size_t count;
    struct storms *strategies;
};

enum agreement { AGREES, UNDECIDED, DIFFERS };

/* One strategy by both clocks: in ns, and in multiples of floor_vfork. */
struct clock_row {
    const char *strategy;
    struct estimate total, total_multiple;
    struct estimate storm, storm_multiple;
    double ratio; /* of the storm's multiple to the total's; NaN when one of them has none */
    struct interval ci;
    enum agreement agreement;
};

/* NULL when the file is refused; *error is then one malloced sentence. */
struct second_clock *second_clock_read(const char *path, char **error);
void second_clock_free(struct second_clock *clock);

/* Whether both were made together; else one malloced sentence. */
bool second_clock_fits(const struct second_clock *clock, const struct run *run, char **error);

/* A malloced row for each strategy that both have (rss:0 gap:0), in the order of the run. */
struct clock_row *second_clock_compare(const struct second_clock *clock, const struct run *run,
                                       size_t *count);

/* "agrees", "undecided", "differs", or "the unit" of the multiples. */
const char *describe_agreement(const struct clock_row *row);

/* The rows as text, and the worst agreement of them; UNDECIDED when there are none to judge. */
enum agreement second_clock_print(const struct second_clock *clock, const struct run *run,
                                  FILE *out);
