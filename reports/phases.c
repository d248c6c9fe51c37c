#include "phases.h"

#include "analysis.h"
#include "further.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char phases_detail[] =
    "Medians with 95 % intervals, one after the other: create, until there is a child; wake, until "
    "it has a CPU; enter, until its first instruction; set_up, until it calls exec; exec and load, "
    "until the first instruction of the target; run, until its end; reap. Across them lies waited, "
    "how long until the exec it could have run and had no CPU. Beyond: what the caller's own clock "
    "has more. Traced: the caller's figures in multiples of those without a tracer.";

bool tells_phases(const struct run *run, const struct cell *cell) {
    return !isnan(median(run, cell, CREATE));
}

struct line_of {
    const char *name;
    enum figure figure;
    bool is_cost;
};

static const struct line_of lines[] = {
    {"create", CREATE, false},
    {"wake", WAKE, false},
    {"enter", ENTER, false},
    {"set_up", SET_UP, false},
    {"exec", EXEC, false},
    {"load", LOAD, false},
    {"run", RUN, false},
    {"reap", REAP, false},
    {"waited", WAITED, false},
    {"call beyond", BEYOND_CALL, false},
    {"ready beyond", BEYOND_READY, false},
    {"total beyond", BEYOND_TOTAL, false},
    {"call traced", CALL, true},
    {"total traced", TOTAL, true},
};
enum { LINES = sizeof lines / sizeof *lines };

static char *describe_time(const struct estimate *e) {
    enum unit unit = unit_for(fmax(e->value, e->ci.high));
    if (e->rounds < 2)
        return sentence("%s", label_time(e->value, unit).text);
    return sentence("%s (%s to %s)", label_time(e->value, unit).text,
                    label_number(e->ci.low, unit).text, label_number(e->ci.high, unit).text);
}

static char *describe_multiple(const struct estimate *e) {
    if (e->rounds < 2)
        return sentence("%.2f", e->value);
    return sentence("%.2f (%.2f to %.2f)", e->value, e->ci.low, e->ci.high);
}

static char *describe_line(const struct run *run, const struct cell *cell,
                           const struct line_of *line) {
    struct axes untraced = cell->axes;
    untraced.more = further_without(cell->axes.more, "traced");
    const struct cell *without = line->is_cost ? find_cell(run, untraced) : NULL;
    free(untraced.more);
    struct estimate e = {.rounds = 0};
    if (!line->is_cost)
        e = estimate_figure(run, cell, line->figure);
    else if (without)
        e = estimate_ratio(run, cell, without, line->figure);
    return e.rounds == 0   ? sentence("-")
           : line->is_cost ? describe_multiple(&e)
                           : describe_time(&e);
}

/* NULL: a strategy was not looked at there. */
static const struct cell *find_traced(const struct view *view, struct axes axes, size_t row) {
    axes.strategy = view->rows[row].strategy;
    const struct cell *cell = find_cell(view->run, axes);
    return cell && tells_phases(view->run, cell) ? cell : NULL;
}

struct medians phases_make(const struct view *view, struct axes axes, struct marks *marks) {
    size_t columns = 1;
    for (size_t row = 0; row < view->row_count; row++)
        columns += find_traced(view, axes, row) != NULL;
    struct medians made = {.table = table_new(LINES + 1, columns)};
    table_set(made.table, 0, 0, "phase");
    for (size_t i = 0; i < LINES; i++)
        table_set(made.table, i + 1, 0, lines[i].name);
    columns = 1;
    for (size_t row = 0; row < view->row_count; row++) {
        const struct cell *cell = find_traced(view, axes, row);
        if (!cell)
            continue;
        table_set(made.table, 0, columns, cell->axes.strategy);
        for (size_t i = 0; i < LINES; i++) {
            char *text = describe_line(view->run, cell, &lines[i]);
            table_set(made.table, i + 1, columns, text);
            free(text);
        }
        marks->shown[cell - view->run->cells] = true;
        columns++;
    }
    return made;
}
