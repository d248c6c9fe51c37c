#include "many.h"

#include "analysis.h"
#include "describe.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const HEADS[] = {"strategy", "all done", "per second", "held", "longest", "cpu"};
enum { COLUMNS = sizeof HEADS / sizeof *HEADS };

static bool is_shown(const struct run *run, const struct cell *cell) {
    return cell->commands > 1 && count_rounds(run, cell) > 0;
}

bool has_many(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_shown(run, &run->cells[i]))
            return true;
    return false;
}

/* Whether they stand in one table, a row each: strategies, and how many at once. */
static bool same_place(const struct cell *a, const struct cell *b) {
    const struct axes *x = &a->axes, *y = &b->axes;
    return x->rss == y->rss && x->gap == y->gap && x->fds == y->fds &&
           !strcmp(x->attributes, y->attributes) && !strcmp(x->target, y->target) &&
           !strcmp(x->more, y->more);
}

static void fill_row(struct table *table, size_t row, const struct run *run,
                     const struct cell *cell) {
    static const enum figure shown[] = {TOTAL, TOTAL, CALL, LONGEST, CPU};
    char *name = sentence("%s at_once:%jd", cell->axes.strategy, (intmax_t)cell->axes.at_once);
    table_set(table, row, 0, name);
    free(name);
    for (size_t i = 0; i + 1 < COLUMNS; i++) {
        double ns = median(run, cell, shown[i]);
        struct label label = label_time(ns, unit_for(ns));
        if (i == 1)
            snprintf(label.text, sizeof label.text, "%.0f", (double)cell->commands * 1e9 / ns);
        if (!isnan(ns))
            table_set(table, row, i + 1, label.text);
    }
}

static void show_place(const struct run *run, const struct cell *first, show_table *show,
                       void *to) {
    struct medians medians = {.table = table_new(run->cell_count + 1, COLUMNS)};
    char *more = describe_more(&first->axes);
    char *title =
        sentence("So many at once, %s, %s: medians", more, label_at(first->axes.rss).text);
    size_t rows = 1;
    for (size_t i = 0; i < COLUMNS; i++)
        table_set(medians.table, 0, i, HEADS[i]);
    for (const struct cell *cell = first; cell < run->cells + run->cell_count; cell++)
        if (is_shown(run, cell) && same_place(first, cell))
            fill_row(medians.table, rows++, run, cell);
    medians.table->rows = rows;
    show(&(struct shown){.title = title,
                         .detail = "\"held\" is the caller's time in calls, all together, "
                                   "\"longest\" in one of them; what it sleeps is in neither",
                         .medians = &medians},
         to);
    medians_free(&medians);
    free(title);
    free(more);
}

void show_many(const struct run *run, show_table *show, void *to) {
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        bool first = is_shown(run, cell);
        for (size_t before = 0; before < i && first; before++)
            first = !is_shown(run, &run->cells[before]) || !same_place(cell, &run->cells[before]);
        if (first)
            show_place(run, cell, show, to);
    }
}
