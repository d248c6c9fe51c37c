#include "sections.h"

#include "describe.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>

/* Sizes on a log axis; a parent without ballast stands one step before the smallest. */
static double place_of(const struct view *view, int64_t rss) {
    static const int64_t KIB = 1024;
    if (rss > 0)
        return log2((double)rss / (double)KIB);
    if (view->size_count < 2)
        return 0;
    double first = place_of(view, view->sizes[1]),
           last = place_of(view, view->sizes[view->size_count - 1]);
    return first - fmax(1, (last - first) / 3);
}

static void add_point(const struct view *view, struct series *series, const struct cell *cell) {
    struct estimate call = estimate_figure(view->run, cell, CALL);
    if (isnan(call.value))
        return;
    struct point *point = series_point(series);
    point->x = place_of(view, cell->axes.rss);
    point->y = on_log(call.value);
    if (call.rounds > 1) {
        point->low = on_log(call.ci.low);
        point->high = on_log(call.ci.high);
    }
    char *held = describe_estimate(&call);
    point->title = sentence("%s %s: %s", series->name, label_at(cell->axes.rss).text, held);
    free(held);
}

static void widen(struct picture *picture, double *least, double *most) {
    for (size_t i = 0; i < picture->count; i++)
        for (size_t j = 0; j < picture->series[i].count; j++) {
            const struct point *point = &picture->series[i].points[j];
            *least = fmin(*least, fmin(point->y, isnan(point->low) ? point->y : point->low));
            *most = fmax(*most, fmax(point->y, isnan(point->high) ? point->y : point->high));
        }
}

static void set_axes(const struct view *view, struct picture *picture) {
    double least = INFINITY, most = 0;
    widen(picture, &least, &most);
    if (least > most)
        return; /* there are no points, and there will be no picture */
    axis_times(&picture->y, pow(10, least), pow(10, most));
    picture->y.name = "caller held (log)";
    picture->x.name = "memory of the parent (log)";
    picture->x.low = place_of(view, view->sizes[0]);
    picture->x.high = place_of(view, view->sizes[view->size_count - 1]);
    double room = fmax(0.5, (picture->x.high - picture->x.low) / 20);
    picture->x.low -= room;
    picture->x.high += room;
    size_t step = 1 + view->size_count / 8;
    for (size_t i = 0; i < view->size_count; i += step)
        axis_tick(&picture->x, place_of(view, view->sizes[i]), label_size(view->sizes[i]).text);
}

void add_cost_picture(const struct subject *subject) {
    const struct view *view = subject->view;
    if (view->size_count == 0 || !subject->has_pictures)
        return;
    struct picture picture = {.id = "cost",
                              .title = "How long one spawn holds its caller, by parent size",
                              .height = 250};
    for (size_t i = 0; i < view->row_count; i++) {
        struct series *series = picture_series(&picture, view->rows[i].strategy,
                                               style_of(view, view->rows[i].strategy));
        series->is_joined = true;
        for (size_t size = 0; size < view->size_count; size++) {
            const struct cell *cell = view_cell(view, series->name, view->sizes[size]);
            if (cell)
                add_point(view, series, cell);
        }
    }
    set_axes(view, &picture);
    picture.description = sentence("Both axes are logarithmic; a parent without ballast, 0, stands "
                                   "one step before the smallest. The tables hold the same "
                                   "numbers.");
    char *rounds = describe_rounds(view), *gap = describe_gap(view->gap, "spawns");
    add_picture(subject, &picture,
                sentence("\"call\" by the parent's memory, %s, %s, %s; the bars are 95 %% "
                         "intervals.",
                         rounds, describe_target(view->target), gap));
    free(gap);
    free(rounds);
}
