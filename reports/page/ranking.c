#include "sections.h"

#include "memory.h"

#include <math.h>
#include <string.h>

static char *multiple_of(const struct run *run, const struct cell *cell) {
    struct estimate multiple = estimate_multiple(run, cell, CALL);
    if (isnan(multiple.value) || multiple.value <= 0)
        return NULL;
    if (multiple.rounds < 2)
        return sentence("%.2f", multiple.value);
    const char *format = multiple.value < 10 ? "%.2f (%.2f to %.2f)" : "%.0f (%.0f to %.0f)";
    char text[96];
    snprintf(text, sizeof text, format, multiple.value, multiple.ci.low, multiple.ci.high);
    return sentence("%s", text);
}

/* NULL: the run does not have it at that size. */
static const struct cell *find_ranked(const struct view *view, const struct row *row) {
    return view_cell(view, row->strategy, view->largest);
}

static void fill(const struct subject *subject, struct grid *grid, size_t place,
                 const struct row *row) {
    const struct run *run = subject->run;
    const struct cell *cell = find_ranked(subject->view, row);
    grid_set(grid, place, 0, sentence("%s", row->strategy));
    size_t rank = rank_of(run, cell, CALL);
    if (rank > 0)
        grid_set(grid, place, 1, sentence("%zu", rank));
    for (enum figure figure = CALL; figure < SPAWN_FIGURES; figure++) {
        struct estimate estimate = estimate_figure(run, cell, figure);
        grid_set(grid, place, 2 + (size_t)figure, describe_estimate(&estimate));
    }
    if (grid->columns > 2 + SPAWN_FIGURES)
        grid_set(grid, place, 2 + SPAWN_FIGURES, multiple_of(run, cell));
}

void add_ranking(const struct subject *subject) {
    static const char *const heads[] = {"strategy", "rank", "call",        "ready",
                                        "total",    "cpu",  "of its floor"};
    const struct view *view = subject->view;
    if (view->size_count == 0)
        return;
    document_section(subject->document, "ranking", "Ranking");
    document_say(
        subject->document,
        sentence("By how long the caller is held (call). ready: until the child runs its "
                 "first instruction; total: until it is reaped; cpu: what caller and child "
                 "used together. The rank is 1 and one for each strategy that is "
                 "surely less. A floor is the raw call with our flags and our child, by "
                 "hand: floor_vm for forkless_start, floor_vfork for the others."));
    struct grid *grid = document_grid(
        subject->document,
        sentence("One spawn %s: medians over rounds (95 %% intervals)",
                 label_at(view->largest).text),
        view->row_count + 1,
        sizeof heads / sizeof *heads - (view->ranked == view->row_count)); /* there is no floor */
    for (size_t i = 0; i < grid->columns; i++)
        grid_set(grid, 0, i, sentence("%s", heads[i]));
    grid->rows = 1;
    for (size_t i = 0; i < view->row_count; i++)
        if (find_ranked(view, &view->rows[i]))
            fill(subject, grid, grid->rows++, &view->rows[i]);
}
