#include "view.h"

#include "analysis.h"
#include "memory.h"
#include "others.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_spawn(const struct cell *cell) {
    return !strncmp(cell->name, "spawn/", strlen("spawn/")) && !is_null(cell);
}

static bool is_seen(const struct view *view, const struct cell *cell) {
    return is_spawn(cell) && is_plain(cell) && !strcmp(cell->axes.target, view->target);
}

/* Then what such cells have is all there is to look at. */
static bool is_all_of_others(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_spawn(&run->cells[i]) && !is_of_others(&run->cells[i]))
            return false;
    return true;
}

char **find_targets(const struct run *run, size_t *count) {
    char **targets = must(calloc(run->cell_count, sizeof *targets));
    *count = 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        char *target = run->cells[i].axes.target;
        size_t same = 0;
        while (same < *count && strcmp(targets[same], target))
            same++;
        if (same < *count || !is_spawn(&run->cells[i]) ||
            (is_of_others(&run->cells[i]) && !is_all_of_others(run)))
            continue;
        targets[(*count)++] = target;
        if (!strcmp(target, DEFAULT_TARGET)) {
            memmove(&targets[1], targets, (*count - 1) * sizeof *targets);
            targets[0] = target;
        }
    }
    return targets;
}

static int64_t choose_gap(const struct view *view) {
    int64_t gap = -1;
    for (size_t i = 0; i < view->run->cell_count; i++) {
        const struct cell *cell = &view->run->cells[i];
        if (is_seen(view, cell) && cell->axes.at_once == 1 &&
            (gap < 0 || cell->axes.gap == DEFAULT_GAP))
            gap = cell->axes.gap;
    }
    return gap < 0 ? DEFAULT_GAP : gap;
}

static void add_size(int64_t *sizes, size_t *count, int64_t rss) {
    size_t place = 0;
    while (place < *count && sizes[place] < rss)
        place++;
    if (place < *count && sizes[place] == rss)
        return;
    memmove(&sizes[place + 1], &sizes[place], (*count - place) * sizeof *sizes);
    sizes[place] = rss;
    (*count)++;
}

int64_t *find_sizes(const struct view *view, int64_t gap, size_t *count) {
    int64_t *sizes = must(calloc(view->run->cell_count, sizeof *sizes));
    *count = 0;
    for (size_t i = 0; i < view->run->cell_count; i++) {
        const struct cell *cell = &view->run->cells[i];
        if (is_seen(view, cell) && cell->axes.at_once == 1 && cell->axes.gap == gap)
            add_size(sizes, count, cell->axes.rss);
    }
    return sizes;
}

static void add_burst(struct view *view, const struct axes *axes) {
    struct burst burst = {.at_once = axes->at_once, .rss = axes->rss, .gap = axes->gap};
    size_t place = 0;
    while (place < view->burst_count && view->bursts[place].at_once < burst.at_once)
        place++;
    struct burst *there = &view->bursts[place];
    if (place < view->burst_count && there->at_once == burst.at_once) {
        bool fits = burst.gap == view->gap, fit = there->gap == view->gap;
        if (fits > fit || (fits == fit && burst.rss > there->rss))
            *there = burst;
        return;
    }
    memmove(there + 1, there, (view->burst_count - place) * sizeof *there);
    *there = burst;
    view->burst_count++;
}

static void add_row(struct view *view, const struct cell *cell) {
    for (size_t i = 0; i < view->row_count; i++)
        if (!strcmp(view->rows[i].strategy, cell->axes.strategy))
            return;
    view->rows[view->row_count++] =
        (struct row){.strategy = cell->axes.strategy, .is_floor = is_floor(cell)};
    view->ranked += !is_floor(cell);
}

static size_t count_ranked(const struct view *view, int64_t rss) {
    size_t count = 0;
    for (size_t row = 0; row < view->row_count; row++) {
        const struct cell *cell = view_cell(view, view->rows[row].strategy, rss);
        count += !view->rows[row].is_floor && !isnan(median(view->run, cell, CALL));
    }
    return count;
}

/* Of no use is a size at which few of the strategies can be compared. */
static void find_largest(struct view *view) {
    size_t most = 0, size = view->size_count;
    for (size_t i = 0; i < view->size_count; i++)
        most =
            count_ranked(view, view->sizes[i]) > most ? count_ranked(view, view->sizes[i]) : most;
    while (size > 1 && 2 * count_ranked(view, view->sizes[size - 1]) < most)
        size--;
    view->largest = size > 0 ? view->sizes[size - 1] : 0;
}

static bool comes_after(const struct row *row, const struct row *other) {
    if (row->is_floor != other->is_floor)
        return row->is_floor;
    return row->call > other->call || (isnan(row->call) && !isnan(other->call));
}

/* By insertion: rows that compare equal stay in the order of the file. */
static void sort_rows(struct view *view) {
    for (size_t i = 0; i < view->row_count; i++) {
        struct row row = view->rows[i];
        const struct cell *cell = view_cell(view, row.strategy, view->largest);
        row.call = median(view->run, cell, CALL);
        size_t place = i;
        for (; place > 0 && comes_after(&view->rows[place - 1], &row); place--)
            view->rows[place] = view->rows[place - 1];
        view->rows[place] = row;
    }
}

void view_open(struct view *view, const struct run *run, char *target) {
    *view = (struct view){.run = run, .target = target};
    view->gap = choose_gap(view);
    view->sizes = find_sizes(view, view->gap, &view->size_count);
    view->rows = must(calloc(run->cell_count, sizeof *view->rows));
    view->bursts = must(calloc(run->cell_count, sizeof *view->bursts));
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        if (is_spawn(cell))
            add_row(view, cell);
        if (is_seen(view, cell) && cell->axes.at_once > 1)
            add_burst(view, &cell->axes);
    }
    find_largest(view);
    sort_rows(view);
}

void view_close(struct view *view) {
    free(view->sizes);
    free(view->rows);
    free(view->bursts);
}

const struct cell *view_cell(const struct view *view, const char *strategy, int64_t rss) {
    struct axes axes = {.strategy = (char *)strategy,
                        .rss = rss,
                        .gap = view->gap,
                        .at_once = 1,
                        PLAIN,
                        .target = view->target};
    return find_cell(view->run, axes);
}
