#include "sections.h"

#include "describe.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Plain cells that differ in strategy and size alone. */
struct group {
    const struct view *view;
    struct axes axes;
    size_t count;
    int64_t *sizes;
};

static bool belongs(const struct group *group, const struct cell *cell) {
    return is_spawn(cell) && is_plain(cell) && cell->axes.gap == group->axes.gap &&
           cell->axes.at_once == group->axes.at_once &&
           !strcmp(cell->axes.target, group->axes.target);
}

static int by_size(const void *a, const void *b) {
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void find_group_sizes(struct group *group) {
    const struct run *run = group->view->run;
    group->sizes = must(calloc(run->cell_count, sizeof *group->sizes));
    for (size_t i = 0; i < run->cell_count; i++) {
        int64_t rss = run->cells[i].axes.rss;
        size_t same = 0;
        while (same < group->count && group->sizes[same] != rss)
            same++;
        if (same == group->count && belongs(group, &run->cells[i]))
            group->sizes[group->count++] = rss;
    }
    qsort(group->sizes, group->count, sizeof *group->sizes, by_size);
}

static const struct cell *cell_at(const struct group *group, char *strategy, int64_t rss) {
    struct axes axes = group->axes;
    axes.strategy = strategy;
    axes.rss = rss;
    return find_cell(group->view->run, axes);
}

/* How many times the least of its column a value is, in steps that the eye can tell apart. */
static int shade_of(double value, double least) {
    static const double steps[SHADES - 1] = {1.25, 2.5, 8, 30, 100};
    int shade = 1;
    while (shade < SHADES && value > least * steps[shade - 1])
        shade++;
    return shade;
}

static void fill_column(const struct group *group, struct grid *grid, size_t column) {
    const struct view *view = group->view;
    int64_t rss = group->sizes[column - 1];
    double *calls = must(malloc(view->row_count * sizeof *calls)), least = INFINITY;
    for (size_t i = 0; i < view->row_count; i++) {
        calls[i] = median(view->run, cell_at(group, view->rows[i].strategy, rss), CALL);
        if (calls[i] < least && !view->rows[i].is_floor)
            least = calls[i];
    }
    grid_set(grid, 0, column, sentence("%s", rss ? label_size(rss).text : "0"));
    for (size_t i = 0; i < view->row_count; i++) {
        const struct cell *cell = cell_at(group, view->rows[i].strategy, rss);
        if (!isnan(calls[i])) {
            grid_set(grid, i + 1, column,
                     sentence("%s", label_time(calls[i], unit_for(calls[i])).text));
            grid_shade(grid, i + 1, column, shade_of(calls[i], fmin(least, calls[i])));
        } else if (cell) {
            grid_set(grid, i + 1, column, sentence("-"));
        }
    }
    free(calls);
}

static void add_group(const struct subject *subject, struct group *group) {
    find_group_sizes(group);
    const struct view *view = group->view;
    char *gap = describe_gap(group->axes.gap, group->axes.at_once > 1 ? "bursts" : "spawns");
    char *burst = group->axes.at_once > 1
                      ? sentence("bursts of %jd, ", (intmax_t)group->axes.at_once)
                      : sentence("%s", "");
    struct grid *grid = document_grid(subject->document,
                                      sentence("%s%s, %s: \"call\" by the parent's memory", burst,
                                               describe_target(group->axes.target), gap),
                                      view->row_count + 1, group->count + 1);
    grid_set(grid, 0, 0, sentence("strategy"));
    for (size_t i = 0; i < view->row_count; i++)
        grid_set(grid, i + 1, 0, sentence("%s", view->rows[i].strategy));
    for (size_t i = 0; i < group->count; i++)
        fill_column(group, grid, i + 1);
    free(burst);
    free(gap);
    free(group->sizes);
}

void add_heat_map(const struct subject *subject) {
    const struct run *run = subject->run;
    bool *done = must(calloc(run->cell_count, sizeof *done));
    bool begun = false;
    for (size_t i = 0; i < run->cell_count; i++) {
        if (done[i] || !is_spawn(&run->cells[i]) || !is_plain(&run->cells[i]))
            continue;
        if (!begun) {
            document_section(subject->document, "map", "Every strategy on every axis");
            document_say(subject->document,
                         sentence("Median \"call\". The stronger a colour, the further from the "
                                  "quickest strategy of its column, floors aside: up to 1.25, "
                                  "2.5, 8, 30 and 100 times, and more."));
        }
        begun = true;
        struct group group = {.view = subject->view, .axes = run->cells[i].axes};
        for (size_t j = i; j < run->cell_count; j++)
            done[j] |= belongs(&group, &run->cells[j]);
        add_group(subject, &group);
    }
    free(done);
}
