#include "medians.h"

#include "analysis.h"
#include "memory.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>

struct making {
    const struct run *run;
    const struct column *columns;
    size_t count;
    struct marks *marks;
    struct medians *made;
};

static const struct cell *cell_at(const struct making *making, const struct row *row,
                                  size_t column) {
    struct axes axes = making->columns[column].axes;
    axes.strategy = row->strategy;
    return find_cell(making->run, axes);
}

static bool is_held(const struct making *making, const struct row *row) {
    for (size_t i = 0; i < making->count; i++)
        if (cell_at(making, row, i))
            return true;
    return false;
}

static enum unit unit_of(const struct making *making, const struct row *row) {
    double largest = 0;
    for (size_t i = 0; i < making->count; i++)
        if (making->columns[i].shows == MEDIAN)
            largest = fmax(largest,
                           median(making->run, cell_at(making, row, i), making->columns[i].figure));
    return unit_for(largest);
}

static struct label show(const struct making *making, const struct column *column,
                         const struct cell *cell, enum unit unit) {
    double ns = median(making->run, cell, column->figure);
    if (column->shows == PER_SECOND)
        return ns > 0
                   ? label_rate((double)(column->axes.at_once * column->axes.spawners) * 1e9 / ns)
                   : (struct label){"-"};
    if (column->shows == MEDIAN)
        return label_time(ns, unit);
    struct tail end = tail(making->run, cell, column->figure, 0.99);
    struct label time = label_time(end.ns, unit), label;
    snprintf(label.text, sizeof label.text, "%s%.27s", end.is_maximum ? "max " : "", time.text);
    return label;
}

static void explain(struct making *making, const struct row *row, const struct column *column,
                    const struct cell *cell) {
    char *why = why_missing(making->run, cell);
    notes_add(&making->made->notes, row->strategy, column->head.text, why);
    free(why);
    if (cell)
        making->marks->explained[cell - making->run->cells] = true;
}

static void fill_row(struct making *making, const struct row *row, size_t place) {
    enum unit unit = unit_of(making, row);
    table_set(making->made->table, place, 0, row->strategy);
    for (size_t i = 0; i < making->count; i++) {
        const struct column *column = &making->columns[i];
        const struct cell *cell = cell_at(making, row, i);
        bool missing = isnan(median(making->run, cell, column->figure));
        table_set(making->made->table, place, i + 1,
                  missing ? "-" : show(making, column, cell, unit).text);
        if (missing && column->shows == MEDIAN)
            explain(making, row, column, cell);
        if (!missing)
            making->marks->shown[cell - making->run->cells] = true;
    }
}

struct medians medians_make(const struct view *view, const char *names,
                            const struct column *columns, size_t count, struct marks *marks) {
    struct medians made = {.table = table_new(view->row_count + 2, count + 1)};
    struct making making = {
        .run = view->run, .columns = columns, .count = count, .marks = marks, .made = &made};
    table_set(made.table, 0, 0, names);
    for (size_t i = 0; i < count; i++) {
        table_set(made.table, 0, i + 1, columns[i].head.text);
        made.notes.columns += columns[i].shows == MEDIAN;
    }
    size_t rows = 1;
    bool floors_begun = false;
    for (size_t i = 0; i < view->row_count; i++) {
        const struct row *row = &view->rows[i];
        if (!is_held(&making, row))
            continue;
        rows += row->is_floor && !floors_begun && rows > 1;
        floors_begun |= row->is_floor;
        fill_row(&making, row, rows++);
    }
    made.table->rows = rows;
    return made;
}

void medians_free(struct medians *medians) {
    notes_clear(&medians->notes);
    table_free(medians->table);
}

struct marks marks_new(const struct run *run) {
    return (struct marks){.shown = must(calloc(run->cell_count, sizeof(bool))),
                          .explained = must(calloc(run->cell_count, sizeof(bool)))};
}

void marks_free(struct marks *marks) {
    free(marks->shown);
    free(marks->explained);
}
