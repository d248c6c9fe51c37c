#include "simulated.h"

#include "analysis.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char SIMULATED[] = "pages:simulated";
static const double LEAST = 0.67, MOST = 1.5;

static bool is_simulated(const struct cell *cell) {
    return !strcmp(cell->axes.more, SIMULATED);
}

/* Of the same axes but with real memory; NULL: none was measured. */
static const struct cell *find_real(const struct run *run, const struct cell *simulated) {
    struct axes axes = simulated->axes;
    axes.more = "";
    const struct cell *real = find_cell(run, axes);
    return real && count_rounds(run, real) > 0 ? real : NULL;
}

/* Of fork's call, which is what is simulated; of no rounds where it cannot be told. */
static struct estimate real_over(const struct run *run, const struct cell *simulated) {
    bool counts = is_simulated(simulated) && !strcmp(simulated->axes.strategy, "fork");
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

void judge_simulated(struct run *run) {
    int64_t from = INT64_MAX;
    double off = 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        struct estimate ratio = real_over(run, cell);
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

bool has_simulated(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_simulated(&run->cells[i]) && count_rounds(run, &run->cells[i]) > 0)
            return true;
    return false;
}

static char *describe_ratio(const struct estimate *ratio) {
    if (ratio->rounds < 2)
        return sentence("%.2f", ratio->value);
    return sentence("%.2f (%.2f to %.2f)", ratio->value, ratio->ci.low, ratio->ci.high);
}

void show_simulated(const struct run *run, show_table *show, void *to) {
    if (!has_simulated(run))
        return;
    struct medians ratios = {.table = table_new(run->cell_count + 1, 2)};
    size_t rows = 1;
    table_set(ratios.table, 0, 0, "fork");
    table_set(ratios.table, 0, 1, "real over simulated");
    for (size_t i = 0; i < run->cell_count; i++) {
        struct estimate ratio = real_over(run, &run->cells[i]);
        if (ratio.rounds == 0)
            continue;
        char *text = describe_ratio(&ratio);
        table_set(ratios.table, rows, 0, label_at(run->cells[i].axes.rss).text);
        table_set(ratios.table, rows++, 1, text);
        free(text);
    }
    ratios.table->rows = rows;
    show(&(struct shown){.title = "Simulated memory against real memory: \"call\"",
                         .detail = rows > 1
                                       ? "beyond 0.67 to 1.5 what is simulated would not stand here"
                                       : "this run has no size with both: what is simulated is "
                                         "not checked",
                         .medians = &ratios},
         to);
    medians_free(&ratios);
}
