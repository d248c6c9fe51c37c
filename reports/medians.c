#include "medians.h"

#include "analysis.h"
#include "layout.h"
#include "memory.h"
#include "notes.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>

struct medians {
    const struct run *run;
    const struct column *columns;
    size_t count;
    struct table *table;
    struct notes notes;
    struct marks *marks;
};

static const struct cell *cell_at(const struct medians *medians, const struct row *row,
                                  size_t column) {
    struct axes axes = medians->columns[column].axes;
    axes.strategy = row->strategy;
    return find_cell(medians->run, axes);
}

static bool is_held(const struct medians *medians, const struct row *row) {
    for (size_t i = 0; i < medians->count; i++)
        if (cell_at(medians, row, i))
            return true;
    return false;
}

static enum unit unit_of(const struct medians *medians, const struct row *row) {
    double largest = 0;
    for (size_t i = 0; i < medians->count; i++)
        if (medians->columns[i].shows == MEDIAN)
            largest = fmax(largest, median(medians->run, cell_at(medians, row, i),
                                           medians->columns[i].figure));
    return unit_for(largest);
}

static struct label show(const struct medians *medians, const struct column *column,
                         const struct cell *cell, enum unit unit) {
    double ns = median(medians->run, cell, column->figure);
    if (column->shows == PER_SECOND)
        return ns > 0 ? label_rate((double)column->axes.at_once * 1e9 / ns) : (struct label){"-"};
    if (column->shows == MEDIAN)
        return label_time(ns, unit);
    struct tail end = tail(medians->run, cell, column->figure, 0.99);
    struct label time = label_time(end.ns, unit), label;
    snprintf(label.text, sizeof label.text, "%s%.27s", end.is_maximum ? "max " : "", time.text);
    return label;
}

static void explain(struct medians *medians, const struct row *row, const struct column *column,
                    const struct cell *cell) {
    char *why = why_missing(medians->run, cell);
    notes_add(&medians->notes, row->strategy, column->head.text, why);
    free(why);
    if (cell)
        medians->marks->explained[cell - medians->run->cells] = true;
}

static void fill_row(struct medians *medians, const struct row *row, size_t place) {
    enum unit unit = unit_of(medians, row);
    table_set(medians->table, place, 0, row->strategy);
    for (size_t i = 0; i < medians->count; i++) {
        const struct column *column = &medians->columns[i];
        const struct cell *cell = cell_at(medians, row, i);
        bool missing = isnan(median(medians->run, cell, column->figure));
        table_set(medians->table, place, i + 1,
                  missing ? "-" : show(medians, column, cell, unit).text);
        if (missing && column->shows == MEDIAN)
            explain(medians, row, column, cell);
        if (!missing)
            medians->marks->shown[cell - medians->run->cells] = true;
    }
}

void print_medians(FILE *out, const struct view *view, const char *names,
                   const struct column *columns, size_t count, struct marks *marks) {
    struct medians medians = {.run = view->run,
                              .columns = columns,
                              .count = count,
                              .table = table_new(view->row_count + 2, count + 1),
                              .marks = marks};
    table_set(medians.table, 0, 0, names);
    for (size_t i = 0; i < count; i++) {
        table_set(medians.table, 0, i + 1, columns[i].head.text);
        medians.notes.columns += columns[i].shows == MEDIAN;
    }
    size_t rows = 1;
    bool floors_begun = false;
    for (size_t i = 0; i < view->row_count; i++) {
        const struct row *row = &view->rows[i];
        if (!is_held(&medians, row))
            continue;
        rows += row->is_floor && !floors_begun && rows > 1;
        floors_begun |= row->is_floor;
        fill_row(&medians, row, rows++);
    }
    medians.table->rows = rows;
    table_print(medians.table, out);
    notes_print(&medians.notes, out);
    notes_clear(&medians.notes);
    table_free(medians.table);
}
