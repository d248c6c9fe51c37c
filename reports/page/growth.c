#include "sections.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t GIB = 1LL << 30;
static const int64_t predicted[] = {1, 4, 16, 64, 256};
enum { PREDICTED = sizeof predicted / sizeof *predicted };

static struct axes axes_of(const struct view *view, char *strategy) {
    return (struct axes){
        .strategy = strategy, .gap = view->gap, .at_once = 1, .target = view->target};
}

static char *describe_slope(const struct estimate *slope) {
    enum unit unit = unit_for(fabs(slope->value));
    if (slope->rounds < 2)
        return sentence("%s", label_time(slope->value, unit).text);
    return sentence("%s (%s to %s)", label_time(slope->value, unit).text,
                    label_number(slope->ci.low, unit).text,
                    label_number(slope->ci.high, unit).text);
}

static void fill_row(const struct view *view, struct grid *grid, size_t place, char *strategy,
                     const struct growth *growth) {
    struct axes axes = axes_of(view, strategy);
    grid_set(grid, place, 0, sentence("%s", strategy));
    grid_set(grid, place, 1, describe_slope(&growth->intercept));
    grid_set(grid, place, 2, describe_slope(&growth->slope));
    if (growth->explained.rounds > 0)
        grid_set(grid, place, 3, sentence("%.2f", growth->explained.value));
    for (size_t i = 0; i < PREDICTED; i++) {
        struct estimate call = estimate_at(view->run, axes, CALL, predicted[i] * GIB);
        grid_set(grid, place, 4 + i, describe_estimate(&call));
    }
}

/* From which size on fork holds its caller longer than the others. */
static void add_crossings(const struct subject *subject) {
    const struct view *view = subject->view;
    char **lines = must(calloc(view->row_count + 1, sizeof *lines));
    size_t count = 0;
    for (size_t i = 0; i < view->row_count; i++) {
        char *strategy = view->rows[i].strategy;
        struct estimate size =
            estimate_crossing(view->run, axes_of(view, "fork"), axes_of(view, strategy), CALL);
        if (!strcmp(strategy, "fork") || size.rounds == 0 || isinf(size.value))
            continue;
        lines[count++] = size.value < 1
                             ? sentence("fork is dearer than %s in parents of any size.", strategy)
                             : sentence("fork is dearer than %s in parents from %s on.", strategy,
                                        label_size((int64_t)size.value).text);
    }
    if (count > 0)
        document_list(subject->document, lines, count);
    else
        free(lines);
}

void add_growth(const struct subject *subject) {
    const struct view *view = subject->view;
    struct growth *growths = must(calloc(view->row_count + 1, sizeof *growths));
    size_t count = 0;
    for (size_t i = 0; i < view->row_count; i++) {
        growths[i] = estimate_growth(view->run, axes_of(view, view->rows[i].strategy), CALL);
        count += growths[i].slope.rounds > 0;
    }
    if (count > 0) {
        document_section(subject->document, "growth", "Growth and prediction");
        document_say(subject->document,
                     sentence("A line through the medians of each round. %s was the largest "
                              "parent that was measured; beyond it the line is drawn on.",
                              view->largest ? label_size(view->largest).text : "0 MiB"));
        struct grid *grid = document_grid(subject->document,
                                          sentence("\"call\" as a line, and what it says of "
                                                   "parents of other sizes (95 %% intervals)"),
                                          count + 1, 4 + PREDICTED);
        grid_set(grid, 0, 0, sentence("strategy"));
        grid_set(grid, 0, 1, sentence("fixed"));
        grid_set(grid, 0, 2, sentence("for each GiB"));
        grid_set(grid, 0, 3, sentence("R²"));
        for (size_t i = 0; i < PREDICTED; i++)
            grid_set(grid, 0, 4 + i, sentence("%s", label_at(predicted[i] * GIB).text));
        size_t place = 1;
        for (size_t i = 0; i < view->row_count; i++)
            if (growths[i].slope.rounds > 0)
                fill_row(view, grid, place++, view->rows[i].strategy, &growths[i]);
        add_crossings(subject);
    }
    free(growths);
}
