#include "others.h"

#include "added.h"
#include "analysis.h"
#include "describe.h"
#include "figures.h"
#include "further.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind of table: the cells that have a figure which others do not have. */
struct kind {
    enum figure figure;
    const char *title, *detail;
    size_t columns;
    const char *const *heads;
    /* One column of a row, malloced. */
    char *(*describe)(const struct run *run, const struct cell *cell, size_t column);
};

bool is_of_others(const struct cell *cell) {
    return further_value(cell->axes.more, "victim") || further_value(cell->axes.more, "after");
}

static bool belongs(const struct run *run, const struct cell *cell, const struct kind *kind) {
    return is_of_others(cell) && count_samples(run, cell, kind->figure) > 0;
}

static char *describe_p99(const struct run *run, const struct cell *cell) {
    struct tail end = tail(run, cell, STALL, 0.99);
    return sentence("%s%s", end.is_maximum ? "max " : "", label_figure(STALL, end.ns).text);
}

static char *describe_p99_added(const struct run *run, const struct cell *cell) {
    if (!enough_for(count_samples(run, cell, BASELINE), 0.99))
        return sentence("-");
    struct estimate added = estimate_percentile_within(run, cell, STALL, BASELINE, 0.99);
    return added.rounds > 0 ? describe_added(&added) : sentence("-");
}

enum { STALL_ITSELF, STALL_P99, STALL_BASELINE, STALL_ADDED, STALL_P99_ADDED, STALL_PARTS };

static char *describe_stall(const struct run *run, const struct cell *cell, size_t column) {
    static const enum figure parts[] = {STALL_BUSY, STALL_WAITING, STALL_BLOCKED};
    if (column == STALL_ITSELF)
        return sentence("%s", label_figure(STALL, median(run, cell, STALL)).text);
    if (column == STALL_P99)
        return describe_p99(run, cell);
    if (column >= STALL_PARTS) {
        enum figure part = parts[column - STALL_PARTS];
        return sentence("%s", label_figure(part, median(run, cell, part)).text);
    }
    if (count_samples(run, cell, BASELINE) == 0) /* a run from before there was one */
        return sentence("-");
    if (column == STALL_BASELINE)
        return sentence("%s", label_figure(BASELINE, median(run, cell, BASELINE)).text);
    if (column == STALL_P99_ADDED)
        return describe_p99_added(run, cell);
    struct estimate added = estimate_within(run, cell, STALL, BASELINE);
    return describe_added(&added);
}

static char *describe_after(const struct run *run, const struct cell *cell, size_t column) {
    static const enum figure figures[] = {AFTER_FAULTS, AFTER_TIME, PAGE_TABLES,
                                          PEAK,         TEARDOWN,   SWITCHES};
    if (figures[column] == SWITCHES && count_samples(run, cell, SWITCHES) > 0)
        return sentence("%s + %s", label_figure(SWITCHES, median(run, cell, SWITCHES)).text,
                        label_figure(PREEMPTIONS, median(run, cell, PREEMPTIONS)).text);
    return sentence("%s", label_figure(figures[column], median(run, cell, figures[column])).text);
}

static const char *const stall_heads[] = {"stall",     "p99",  "baseline", "added",
                                          "p99 added", "busy", "waiting",  "blocked"};
static const char *const after_heads[] = {"faults", "time",     "page tables",
                                          "memory", "teardown", "switches"};

static const struct kind stalls = {
    .figure = STALL,
    .title = "How long others stood still",
    .detail =
        "The longest stall of the victim in each sample: medians, p99; the same in a window as "
        "long without a spawn (baseline), and what is added to that, sample by sample; busy, "
        "waiting for a CPU, blocked: medians of its parts",
    .columns = sizeof stall_heads / sizeof *stall_heads,
    .heads = stall_heads,
    .describe = describe_stall,
};

static const struct kind aftermath = {
    .figure = AFTER_TIME,
    .title = "What comes after",
    .detail = "The parent writes all its memory once more: page faults and time; page tables and "
              "memory of parent and child together; teardown: from the child's last instruction "
              "until it is reaped; context switches of the caller in call and reaping, voluntary "
              "and not: medians",
    .columns = sizeof after_heads / sizeof *after_heads,
    .heads = after_heads,
    .describe = describe_after,
};

static void fill_row(struct table *table, size_t row, const struct run *run,
                     const struct cell *cell, const struct kind *kind) {
    table_set(table, row, 0, cell->axes.strategy);
    for (size_t i = 0; i < kind->columns; i++) {
        char *text = kind->describe(run, cell, i);
        table_set(table, row, i + 1, text);
        free(text);
    }
}

static char *add_if(bool is, char *text, char *more) {
    char *longer = is ? sentence("%s, %s", text, more) : text;
    if (is)
        free(text);
    free(more);
    return longer;
}

/* All that differs between two of these tables. */
static char *describe_title(const struct kind *kind, const struct axes *axes) {
    char *more = describe_more(axes);
    char *text = sentence("%s %s: %s", kind->title, label_at(axes->rss).text, more);
    free(more);
    text = add_if(true, text, describe_gap(axes->gap, axes->at_once > 1 ? "bursts" : "spawns"));
    text = add_if(axes->at_once > 1, text, sentence("%jd at once", (intmax_t)axes->at_once));
    text = add_if(axes->fds > 0, text, sentence("%jd descriptors open", (intmax_t)axes->fds));
    text = add_if(strcmp(axes->attributes, NO_ATTRIBUTES) != 0, text,
                  sentence("attributes %s", axes->attributes));
    return add_if(strcmp(axes->target, DEFAULT_TARGET) && strcmp(axes->target, "waiter"), text,
                  sentence("%s", describe_target(axes->target)));
}

/* The strategies at the place of a cell, in their order in the run. */
static void show_place(const struct run *run, const struct cell *first, const struct kind *kind,
                       const char *detail, show_table *show, void *to) {
    struct medians medians = {.table = table_new(run->cell_count + 1, kind->columns + 1)};
    size_t rows = 1;
    table_set(medians.table, 0, 0, "");
    for (size_t i = 0; i < kind->columns; i++)
        table_set(medians.table, 0, i + 1, kind->heads[i]);
    for (const struct cell *cell = first; cell < run->cells + run->cell_count; cell++)
        if (belongs(run, cell, kind) && same_block(first, cell))
            fill_row(medians.table, rows++, run, cell, kind);
    medians.table->rows = rows;
    char *title = describe_title(kind, &first->axes);
    show(&(struct shown){.title = title, .detail = detail, .medians = &medians}, to);
    free(title);
    medians_free(&medians);
}

static bool is_first(const struct run *run, const struct cell *cell, const struct kind *kind) {
    for (const struct cell *other = run->cells; other < cell; other++)
        if (belongs(run, other, kind) && same_block(other, cell))
            return false;
    return belongs(run, cell, kind);
}

static bool has_kind(const struct run *run, const struct kind *kind) {
    bool has = false;
    for (size_t i = 0; i < run->cell_count && !has; i++)
        has = belongs(run, &run->cells[i], kind);
    return has;
}

static void show_kind(const struct run *run, const struct kind *kind, show_table *show, void *to) {
    const char *detail = kind->detail; /* said once */
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_first(run, &run->cells[i], kind)) {
            show_place(run, &run->cells[i], kind, detail, show, to);
            detail = NULL;
        }
}

bool has_stalls(const struct run *run) {
    return has_kind(run, &stalls);
}

void show_stalls(const struct run *run, show_table *show, void *to) {
    show_kind(run, &stalls, show, to);
}

bool has_aftermath(const struct run *run) {
    return has_kind(run, &aftermath);
}

void show_aftermath(const struct run *run, show_table *show, void *to) {
    show_kind(run, &aftermath, show, to);
}
