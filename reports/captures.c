#include "captures.h"

#include "analysis.h"

#include <string.h>

static const char CASE[] = "capture/";
static const enum figure SHOWN[] = {TOTAL, CPU};
enum { COLUMNS = sizeof SHOWN / sizeof *SHOWN };

static bool is_captured(const struct run *run, const struct cell *cell) {
    return !strncmp(cell->name, CASE, strlen(CASE)) && count_rounds(run, cell) > 0;
}

bool has_captures(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_captured(run, &run->cells[i]))
            return true;
    return false;
}

static void fill_row(struct table *table, size_t row, const struct run *run,
                     const struct cell *cell) {
    enum unit unit = unit_for(median(run, cell, TOTAL));
    table_set(table, row, 0, cell->name + strlen(CASE));
    for (size_t i = 0; i < COLUMNS; i++)
        table_set(table, row, i + 1, label_time(median(run, cell, SHOWN[i]), unit).text);
}

void show_captures(const struct run *run, show_table *show, void *to) {
    if (!has_captures(run))
        return;
    struct medians captures = {.table = table_new(run->cell_count + 1, COLUMNS + 1)};
    size_t rows = 1;
    table_set(captures.table, 0, 0, "capture");
    for (size_t i = 0; i < COLUMNS; i++)
        table_set(captures.table, 0, i + 1, figure_names[SHOWN[i]]);
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_captured(run, &run->cells[i]))
            fill_row(captures.table, rows++, run, &run->cells[i]);
    captures.table->rows = rows;
    show(&(struct shown){.title = "All that a child writes, captured: medians",
                         .medians = &captures},
         to);
    medians_free(&captures);
}
