#include "csv.h"

#include "floor.h"

#include "escape.h"
#include "sections.h"

#include <inttypes.h>
#include <math.h>

static void write_number(FILE *out, double number) {
    fputc(',', out);
    if (isfinite(number))
        fprintf(out, "%.10g", number);
}

static void write_estimate(FILE *out, const struct estimate *estimate) {
    write_number(out, estimate->value);
    write_number(out, estimate->rounds > 1 ? estimate->ci.low : NAN);
    write_number(out, estimate->rounds > 1 ? estimate->ci.high : NAN);
}

/* Those of a spawn are in every file. */
static bool is_in_file(const struct run *run, enum figure figure) {
    bool any = figure < SPAWN_FIGURES;
    for (size_t i = 0; i < run->cell_count && !any; i++)
        any = count_samples(run, &run->cells[i], figure) > 0;
    return any;
}

static void write_head(const struct run *run, FILE *out) {
    fputs("cell,strategy,rss,gap,at_once,fds,spawners,attributes,target,more,state,reason,rounds,"
          "samples",
          out);
    for (enum figure figure = CALL; figure < FIGURES; figure++) {
        const char *name = figure_names[figure];
        if (is_in_file(run, figure))
            fprintf(out, ",%s,%s_low,%s_high,%s_tail,%s_tail_is", name, name, name, name, name);
    }
    fputs(",multiple_of_floor,multiple_low,multiple_high\r\n", out);
}

/* What the cell is as a whole, and why it is not more: the reasons of rounds that went wrong. */
static void write_state(FILE *out, const struct run *run, const struct cell *cell) {
    enum state state = NOT_RUN;
    const char *reason = "";
    for (size_t round = 0; round < run->rounds; round++) {
        const struct measurement *measurement = &cell->rounds[round];
        if (measurement->state != NOT_RUN && state != MEASURED)
            state = measurement->state;
        if (measurement->reason && !*reason)
            reason = measurement->reason;
    }
    fprintf(out, ",%s,", state_names[state]);
    write_csv(out, reason);
}

static void write_figure(FILE *out, const struct run *run, const struct cell *cell,
                         enum figure figure) {
    struct estimate estimate = estimate_figure(run, cell, figure);
    struct tail end = tail(run, cell, figure, 0.99);
    write_estimate(out, &estimate);
    write_number(out, end.ns);
    fprintf(out, ",%s", isnan(end.ns) ? "" : end.is_maximum ? "max" : "p99");
}

static void write_cell(FILE *out, const struct run *run, const struct cell *cell) {
    const struct axes *axes = &cell->axes;
    write_csv(out, cell->name);
    fputc(',', out);
    write_csv(out, axes->strategy);
    fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, axes->rss, axes->gap, axes->at_once);
    fprintf(out, ",%" PRId64 ",%" PRId64 ",", axes->fds, axes->spawners);
    write_csv(out, axes->attributes);
    fputc(',', out);
    write_csv(out, axes->target);
    fputc(',', out);
    write_csv(out, axes->more);
    write_state(out, run, cell);
    fprintf(out, ",%zu,%zu", count_rounds(run, cell), count_samples(run, cell, CALL));
    for (enum figure figure = CALL; figure < FIGURES; figure++)
        if (is_in_file(run, figure))
            write_figure(out, run, cell, figure);
    const struct cell *floor = find_floor(run, cell);
    struct estimate multiple =
        floor ? estimate_ratio(run, cell, floor, CALL) : (struct estimate){.value = NAN};
    write_estimate(out, &multiple);
    fputs("\r\n", out);
}

void csv_write(const struct run *run, FILE *out) {
    write_head(run, out);
    for (size_t i = 0; i < run->cell_count; i++)
        write_cell(out, run, &run->cells[i]);
}
