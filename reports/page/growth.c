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
        .strategy = strategy, .gap = view->gap, .at_once = 1, PLAIN, .target = view->target};
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
        char *text = describe_estimate(&call);
        grid_set(grid, place, 4 + i,
                 sentence("%s%s", predicted[i] * GIB > growth->reach ? "* " : "", text));
        free(text);
    }
}

static char *describe_crossing(const char *strategy, const struct estimate *size) {
    if (size->value < 1 && size->ci.high < 1)
        return sentence("fork is dearer than %s in parents of any size.", strategy);
    char *high = isinf(size->ci.high) ? sentence("no upper end")
                                      : sentence("%s", label_about(size->ci.high).text);
    char *text = sentence("fork is dearer than %s in parents from %s on (%s to %s).", strategy,
                          label_about(size->value).text, label_about(size->ci.low).text, high);
    free(high);
    return text;
}

/* From which size on fork holds its caller longer than the others that people choose from. */
static void add_crossings(const struct subject *subject) {
    const struct view *view = subject->view;
    char **lines = must(calloc(view->row_count + 1, sizeof *lines));
    size_t count = 0;
    for (size_t i = 0; i < view->ranked; i++) {
        char *strategy = view->rows[i].strategy;
        struct estimate size =
            estimate_crossing(view->run, axes_of(view, "fork"), axes_of(view, strategy), CALL);
        if (strcmp(strategy, "fork") && size.rounds > 1 && !isinf(size.value))
            lines[count++] = describe_crossing(strategy, &size);
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
                     sentence("Fixed part, growth and R² are of a line through the medians of "
                              "each round. At a size between two that were measured stands what "
                              "lies between their figures. * is a prediction, beyond the largest "
                              "parent that was measured: the line is drawn on, or where no growth "
                              "can be told the figure stays, with the growth in its interval "
                              "that the slope's allows."));
        struct grid *grid = document_grid(subject->document,
                                          sentence("\"call\" by the parent's memory (95 %% "
                                                   "intervals)"),
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
