#include "added.h"

#include "analysis.h"
#include "memory.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct cell *find_plain(const struct run *run, const struct cell *cell) {
    struct axes axes = cell->axes;
    axes.attributes = NO_ATTRIBUTES;
    return find_cell(run, axes);
}

static struct estimate estimate_added(const struct run *run, const struct cell *cell) {
    return estimate_difference(run, cell, find_plain(run, cell), CALL);
}

bool tells_added(const struct run *run, const struct cell *cell) {
    return estimate_added(run, cell).rounds > 0;
}

struct adding {
    const struct run *run;
    struct axes axes; /* but for strategy and attributes */
    struct marks *marks;
    size_t strategies;
    char **strategy;
    struct medians *made;
};

static bool belongs(const struct adding *adding, const struct cell *cell) {
    struct axes axes = adding->axes;
    axes.strategy = cell->axes.strategy;
    axes.attributes = cell->axes.attributes;
    return strcmp(axes.attributes, NO_ATTRIBUTES) && cell->axes.rss == axes.rss &&
           same_but_rss(cell, &axes);
}

/* In the order of the view's rows. */
static void find_strategies(struct adding *adding, const struct view *view) {
    adding->strategy = must(calloc(view->row_count + 1, sizeof *adding->strategy));
    for (size_t row = 0; row < view->row_count; row++)
        for (size_t i = 0; i < adding->run->cell_count; i++) {
            const struct cell *cell = &adding->run->cells[i];
            if (belongs(adding, cell) && !strcmp(cell->axes.strategy, view->rows[row].strategy)) {
                adding->strategy[adding->strategies++] = view->rows[row].strategy;
                break;
            }
        }
}

char *describe_added(const struct estimate *added) {
    enum unit unit = unit_for(fmax(fabs(added->value), fabs(added->ci.high)));
    if (added->rounds < 2)
        return sentence("%s", label_time(added->value, unit).text);
    return sentence("%s (%s to %s)", label_time(added->value, unit).text,
                    label_number(added->ci.low, unit).text,
                    label_number(added->ci.high, unit).text);
}

static void note_missing(struct adding *adding, const struct cell *cell, char *attribute,
                         const char *strategy) {
    bool lacks_plain = cell && count_rounds(adding->run, cell) > 0;
    char *why = lacks_plain ? sentence("not measured without it") : why_missing(adding->run, cell);
    notes_add(&adding->made->notes, attribute, strategy, why);
    free(why);
    if (cell)
        adding->marks->explained[cell - adding->run->cells] = true;
}

static void fill_row(struct adding *adding, size_t row, char *attribute) {
    struct table *table = adding->made->table;
    table_set(table, row, 0, attribute);
    for (size_t i = 0; i < adding->strategies; i++) {
        struct axes axes = adding->axes;
        axes.strategy = adding->strategy[i];
        axes.attributes = attribute;
        const struct cell *cell = find_cell(adding->run, axes);
        struct estimate added =
            cell ? estimate_added(adding->run, cell) : (struct estimate){.rounds = 0};
        if (added.rounds == 0) {
            table_set(table, row, i + 1, "-");
            note_missing(adding, cell, attribute, adding->strategy[i]);
            continue;
        }
        char *text = describe_added(&added);
        table_set(table, row, i + 1, text);
        free(text);
        adding->marks->shown[cell - adding->run->cells] = true;
    }
}

static bool is_listed(const struct table *table, size_t rows, const char *attribute) {
    for (size_t row = 1; row < rows; row++)
        if (!strcmp(table->texts[row * table->columns], attribute))
            return true;
    return false;
}

struct medians attributes_added(const struct view *view, struct axes axes, struct marks *marks) {
    struct medians made = {.notes = {0}};
    struct adding adding = {.run = view->run, .axes = axes, .marks = marks, .made = &made};
    find_strategies(&adding, view);
    made.table = table_new(view->run->cell_count + 1, adding.strategies + 1);
    made.notes.columns = adding.strategies;
    table_set(made.table, 0, 0, "attribute");
    for (size_t i = 0; i < adding.strategies; i++)
        table_set(made.table, 0, i + 1, adding.strategy[i]);
    size_t rows = 1;
    for (size_t i = 0; i < view->run->cell_count; i++) {
        const struct cell *cell = &view->run->cells[i];
        if (belongs(&adding, cell) && !is_listed(made.table, rows, cell->axes.attributes))
            fill_row(&adding, rows++, cell->axes.attributes);
    }
    made.table->rows = rows;
    free(adding.strategy);
    return made;
}
