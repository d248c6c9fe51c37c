#include "picture.h"

#include "memory.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series *picture_series(struct picture *picture, const char *name, size_t style) {
    picture->series =
        must(reallocarray(picture->series, picture->count + 1, sizeof *picture->series));
    struct series *series = &picture->series[picture->count++];
    *series = (struct series){.name = must(strdup(name)), .style = style, .marker = style};
    return series;
}

struct point *series_point(struct series *series) {
    series->points = must(reallocarray(series->points, series->count + 1, sizeof *series->points));
    struct point *point = &series->points[series->count++];
    *point = (struct point){.low = NAN, .high = NAN};
    return point;
}

void axis_tick(struct axis *axis, double at, const char *text) {
    axis->ticks = must(reallocarray(axis->ticks, axis->count + 1, sizeof *axis->ticks));
    axis->ticks[axis->count++] = (struct tick){.at = at, .text = must(strdup(text))};
}

double on_log(double ns) {
    return log10(fmax(ns, 1));
}

static void tick_at(struct axis *axis, double ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double at = on_log(ns);
    if (at < axis->low - 1e-9 || at > axis->high + 1e-9)
        return;
    size_t unit = 0;
    for (; ns >= 999.5 && unit < 3; unit++)
        ns /= 1000;
    char text[32];
    snprintf(text, sizeof text, "%.*f %s", ns < 9.95 && ns != floor(ns) ? 1 : 0, ns, units[unit]);
    axis_tick(axis, at, text);
}

static void tick_decades(struct axis *axis, bool is_short) {
    int step = axis->high - axis->low > 10 ? 2 : 1;
    for (int decade = 0; decade < 19; decade += step) {
        tick_at(axis, pow(10, decade));
        if (is_short) {
            tick_at(axis, 2 * pow(10, decade));
            tick_at(axis, 5 * pow(10, decade));
        }
    }
}

/* About four, evenly apart in time, where there is hardly a decade. */
static void tick_evenly(struct axis *axis) {
    double low = pow(10, axis->low), high = pow(10, axis->high);
    double step = pow(10, floor(log10((high - low) / 3)));
    while (step * 5 < high - low)
        step *= 2;
    for (double ns = ceil(low / step) * step; ns <= high; ns += step)
        tick_at(axis, ns);
}

void axis_times(struct axis *axis, double least_ns, double most_ns) {
    double low = on_log(least_ns), high = on_log(most_ns), room = fmax((high - low) / 20, 0.05);
    axis->low = low - room;
    axis->high = high + room;
    if (axis->high - axis->low < 0.9)
        tick_evenly(axis);
    else
        tick_decades(axis, axis->high - axis->low < 2.5);
}

static void clear_axis(struct axis *axis) {
    for (size_t i = 0; i < axis->count; i++)
        free(axis->ticks[i].text);
    free(axis->ticks);
}

void picture_clear(struct picture *picture) {
    for (size_t i = 0; i < picture->count; i++) {
        struct series *series = &picture->series[i];
        for (size_t j = 0; j < series->count; j++)
            free(series->points[j].title);
        free(series->points);
        free(series->name);
    }
    free(picture->series);
    free(picture->description);
    clear_axis(&picture->x);
    clear_axis(&picture->y);
}
