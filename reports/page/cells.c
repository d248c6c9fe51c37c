#include "sections.h"

#include "memory.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The null cell takes some ns. */
static struct label label_fine(double ns) {
    return label_time(ns, ns < 1000 ? NS : unit_for(ns));
}

static char *describe_tail(const struct run *run, const struct cell *cell) {
    struct tail end = tail(run, cell, CALL, 0.99);
    if (isnan(end.ns))
        return NULL;
    return sentence("%s%s", end.is_maximum ? "max " : "", label_fine(end.ns).text);
}

static char *describe_median(const struct run *run, const struct cell *cell, enum figure figure) {
    double ns = median(run, cell, figure);
    return isnan(ns) ? NULL : sentence("%s", label_fine(ns).text);
}

static void fill_cell(const struct run *run, struct grid *grid, size_t place,
                      const struct cell *cell) {
    grid_set(grid, place, 0, must(strdup(cell->name)));
    size_t rounds = count_rounds(run, cell);
    grid_set(grid, place, 1, sentence("%zu", rounds));
    grid_set(grid, place, 2, sentence("%zu", count_samples(run, cell, CALL)));
    if (rounds == 0) {
        grid_set(grid, place, 3, why_missing(run, cell));
        return;
    }
    struct estimate call = estimate_figure(run, cell, CALL);
    grid_set(grid, place, 3,
             is_null(cell) ? sentence("%s", label_fine(call.value).text)
                           : describe_estimate(&call));
    grid_set(grid, place, 4, describe_tail(run, cell));
    for (enum figure figure = READY; figure < SPAWN_FIGURES; figure++)
        grid_set(grid, place, 4 + (size_t)figure, describe_median(run, cell, figure));
}

void add_cells(const struct subject *subject) {
    static const char *const heads[] = {"cell",     "rounds", "samples", "call",
                                        "call p99", "ready",  "total",   "cpu"};
    const struct run *run = subject->run;
    document_section(subject->document, "cells", "Every cell");
    struct grid *grid = document_grid(
        subject->document,
        sentence("All %zu cells: medians over rounds (95 %% intervals)", run->cell_count),
        run->cell_count + 1, sizeof heads / sizeof *heads);
    grid->is_folded = true;
    for (size_t i = 0; i < grid->columns; i++)
        grid_set(grid, 0, i, sentence("%s", heads[i]));
    for (size_t i = 0; i < run->cell_count; i++)
        fill_cell(run, grid, i + 1, &run->cells[i]);
}

void add_problems(const struct subject *subject) {
    const struct run *run = subject->run;
    bool *known = must(calloc(run->cell_count + 1, sizeof *known));
    size_t count;
    struct problem *problems = find_problems(run, known, &count);
    free(known);
    document_section(subject->document, "problems", "What was not measured");
    if (count == 0) {
        document_say(subject->document, sentence("Nothing failed, timed out or was unsupported."));
    } else {
        static const char *const heads[] = {"state", "measurements", "reason", "cells"};
        struct grid *grid = document_grid(
            subject->document, sentence("Measurements without figures, by reason"), count + 1, 4);
        grid->is_prose = true;
        for (size_t i = 0; i < grid->columns; i++)
            grid_set(grid, 0, i, sentence("%s", heads[i]));
        for (size_t i = 0; i < count; i++) {
            const struct problem *problem = &problems[i];
            grid_set(grid, i + 1, 0, must(strdup(state_names[problem->state])));
            grid_set(grid, i + 1, 1, sentence("%zu", problem->measurements));
            grid_set(grid, i + 1, 2, must(strdup(problem->reason)));
            grid_set(grid, i + 1, 3,
                     problem->cells == 1
                         ? must(strdup(problem->first->name))
                         : sentence("%s and %zu more", problem->first->name, problem->cells - 1));
        }
    }
    free(problems);
}
