#include "judge.h"

#include "further.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST = 0.67, MOST = 1.5;

bool is_simulated(const struct cell *cell) {
    return further_is(cell->axes.more, "pages", "simulated");
}

/* Of the same axes but with real memory; NULL: none was measured. */
static const struct cell *find_real(const struct run *run, const struct cell *simulated) {
    struct axes axes = simulated->axes;
    axes.more = further_without(axes.more, "pages");
    const struct cell *real = find_cell(run, axes);
    free(axes.more);
    return real && count_rounds(run, real) > 0 ? real : NULL;
}

struct estimate real_over_simulated(const struct run *run, const struct cell *simulated) {
    /* Of what is left out of copies little is left to compare. */
    bool counts = is_simulated(simulated) && !strcmp(simulated->axes.strategy, "fork") &&
                  !further_is(simulated->axes.more, "memory", "dontfork");
    const struct cell *real = counts ? find_real(run, simulated) : NULL;
    return real ? estimate_ratio(run, real, simulated, CALL) : (struct estimate){.value = NAN};
}

static void refuse_cell(const struct run *run, struct cell *cell, double off) {
    for (size_t round = 0; round < run->rounds; round++) {
        struct measurement *measurement = &cell->rounds[round];
        if (measurement->state != MEASURED)
            continue;
        for (enum figure figure = CALL; figure < FIGURES; figure++) {
            free(measurement->figures[figure].ns);
            measurement->figures[figure] = (struct samples){0};
        }
        measurement->state = UNSUPPORTED;
        measurement->reason = sentence("simulation off by %.2g", off);
    }
}

static void judge_simulated(struct run *run) {
    int64_t from = INT64_MAX;
    double off = 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        struct estimate ratio = real_over_simulated(run, cell);
        if (ratio.rounds > 0 && (ratio.value < LEAST || ratio.value > MOST) &&
            cell->axes.rss < from) {
            from = cell->axes.rss;
            off = ratio.value;
        }
    }
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_simulated(&run->cells[i]) && run->cells[i].axes.rss >= from)
            refuse_cell(run, &run->cells[i], off);
}

struct run *read_judged(const char *path, char **error) {
    struct run *run = run_read(path, error);
    if (run)
        judge_simulated(run);
    return run;
}
