#include "sections.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cells of the view at its largest size, each with all its samples of `call`. */

struct drawing {
    const struct view *view;
    struct picture picture;
    size_t samples;
    size_t drawn;
    size_t each; /* points that a strategy may have */
    double least;
    double most;
};

/* The strategies that people choose from; the floors would hide them. */
static const struct cell *cell_of(const struct drawing *drawing, size_t row) {
    return view_cell(drawing->view, drawing->view->rows[row].strategy, drawing->view->largest);
}

static struct drawing begin(const struct view *view, struct picture picture) {
    struct drawing drawing = {.view = view, .picture = picture, .least = INFINITY, .most = 1};
    size_t cells = 0;
    for (size_t i = 0; i < view->ranked; i++) {
        const struct cell *cell = cell_of(&drawing, i);
        size_t count = cell ? count_samples(view->run, cell, CALL) : 0;
        cells += count > 0;
        drawing.samples += count;
    }
    drawing.each = cells && cells < MOST_POINTS ? MOST_POINTS / cells : 1;
    return drawing;
}

static struct series *begin_series(struct drawing *drawing, size_t row) {
    const char *strategy = drawing->view->rows[row].strategy;
    return picture_series(&drawing->picture, strategy, style_of(drawing->view, strategy));
}

static void see(struct drawing *drawing, double ns) {
    drawing->least = fmin(drawing->least, fmax(ns, 1));
    drawing->most = fmax(drawing->most, ns);
}

static char *describe_drawn(const struct drawing *drawing) {
    return drawing->drawn < drawing->samples
               ? sentence("%zu of %zu samples are drawn", drawing->drawn, drawing->samples)
               : sentence("all %zu samples are drawn", drawing->samples);
}

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double *sorted_calls(const struct run *run, const struct cell *cell, size_t count) {
    double *sorted = must(malloc((count + 1) * sizeof *sorted));
    size_t at = 0;
    for (size_t round = 0; round < run->rounds; round++) {
        const struct samples *calls = &cell->rounds[round].figures[CALL];
        if (calls->count)
            memcpy(&sorted[at], calls->ns, calls->count * sizeof *sorted);
        at += calls->count;
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    return sorted;
}

static const double rarest = -5; /* decades below "all" that a share may have */

static void add_share(struct drawing *drawing, struct series *series, const double *sorted,
                      size_t count, size_t place) {
    double share = (double)(count - place) / (double)count;
    struct point *point = series_point(series);
    point->x = on_log(sorted[place]);
    point->y = fmax(log10(share), rarest);
    point->title = sentence("%s: %.3g %% take %s or longer", series->name, share * 100,
                            label_time(sorted[place], unit_for(sorted[place])).text);
    drawing->drawn++;
    see(drawing, sorted[place]);
}

/* The rarer the denser: places on the log of the share that is still to come. */
static void add_tail(struct drawing *drawing, size_t row) {
    const struct run *run = drawing->view->run;
    const struct cell *cell = cell_of(drawing, row);
    size_t count = cell ? count_samples(run, cell, CALL) : 0, last = SIZE_MAX;
    struct series *series = begin_series(drawing, row);
    series->is_joined = true;
    if (count == 0)
        return;
    double *sorted = sorted_calls(run, cell, count);
    size_t points = count < drawing->each ? count : drawing->each;
    for (size_t i = 0; i < points; i++) {
        double left = pow((double)count, 1 - (double)i / (double)(points > 1 ? points - 1 : 1));
        size_t place = points == count ? i : count - (size_t)fmax(1, round(left));
        if (place != last)
            add_share(drawing, series, sorted, count, place);
        last = place;
    }
    free(sorted);
}

static void add_tails(const struct subject *subject) {
    struct drawing drawing =
        begin(subject->view, (struct picture){.id = "tails",
                                              .title = "How often a spawn takes longer",
                                              .is_dense = true,
                                              .height = 230});
    for (size_t i = 0; i < subject->view->ranked; i++)
        add_tail(&drawing, i);
    struct picture *picture = &drawing.picture;
    axis_times(&picture->x, fmin(drawing.least, drawing.most), drawing.most);
    picture->x.name = "caller held (log)";
    picture->y.name = "share that takes longer (log)";
    double lowest = 0;
    for (size_t i = 0; i < picture->count; i++)
        for (size_t j = 0; j < picture->series[i].count; j++)
            lowest = fmin(lowest, picture->series[i].points[j].y);
    picture->y.low = fmin(lowest, -1) - 0.1;
    picture->y.high = 0.05;
    static const char *const shares[] = {"100 %", "10 %", "1 %", "0.1 %", "0.01 %", "0.001 %"};
    for (int i = 0; i > picture->y.low; i--)
        axis_tick(&picture->y, i, shares[-i]);
    picture->description = sentence("The distribution of \"call\": one minus its ECDF.");
    char *drawn = describe_drawn(&drawing);
    add_picture(subject, picture,
                sentence("Share of spawns that hold their caller at least so long, %s (the ECDF "
                         "from above); %s.",
                         label_at(subject->view->largest).text, drawn));
    free(drawn);
}

static void add_in_order(struct drawing *drawing, size_t row) {
    const struct run *run = drawing->view->run;
    const struct cell *cell = cell_of(drawing, row);
    size_t count = cell ? count_samples(run, cell, CALL) : 0, seen = 0;
    struct series *series = begin_series(drawing, row);
    if (count == 0)
        return;
    size_t step = (count + drawing->each - 1) / drawing->each;
    for (size_t round = 0; round < run->rounds; round++) {
        const struct samples *calls = &cell->rounds[round].figures[CALL];
        for (size_t i = 0; i < calls->count; i++) {
            if (seen++ % step)
                continue;
            struct point *point = series_point(series);
            point->x = (double)round + ((double)i + 0.5) / (double)calls->count;
            point->y = on_log(calls->ns[i]);
            point->title = sentence("%s, round %zu, sample %zu: %s", series->name, round, i + 1,
                                    label_time(calls->ns[i], unit_for(calls->ns[i])).text);
            drawing->drawn++;
            see(drawing, calls->ns[i]);
        }
    }
}

static void add_order(const struct subject *subject) {
    struct drawing drawing = begin(
        subject->view, (struct picture){.id = "order",
                                        .title = "Samples in the order in which they were taken",
                                        .is_dense = true,
                                        .height = 230});
    for (size_t i = 0; i < subject->view->ranked; i++)
        add_in_order(&drawing, i);
    struct picture *picture = &drawing.picture;
    axis_times(&picture->y, fmin(drawing.least, drawing.most), drawing.most);
    picture->y.name = "caller held (log)";
    picture->x.name = "round";
    picture->x.high = (double)subject->run->rounds;
    size_t step = 1 + subject->run->rounds / 12;
    for (size_t round = 0; round < subject->run->rounds; round += step) {
        char text[24];
        snprintf(text, sizeof text, "%zu", round);
        axis_tick(&picture->x, (double)round, text);
    }
    picture->description = sentence("A drift or a disturbed round shows as a step.");
    char *drawn = describe_drawn(&drawing);
    add_picture(subject, picture,
                sentence("\"call\" of each sample %s, by round; %s.",
                         label_at(subject->view->largest).text, drawn));
    free(drawn);
}

static void add_pair(struct drawing *drawing, struct series *series, size_t row,
                     enum figure figure) {
    const struct cell *cell = cell_of(drawing, row);
    struct estimate estimate =
        cell ? estimate_figure(drawing->view->run, cell, figure) : (struct estimate){.value = NAN};
    if (isnan(estimate.value))
        return;
    struct point *point = series_point(series);
    point->y = -(double)row + (figure == CALL ? 0.15 : -0.15);
    point->x = on_log(estimate.value);
    see(drawing, estimate.value);
    if (estimate.rounds > 1) {
        point->low = on_log(estimate.ci.low);
        point->high = on_log(estimate.ci.high);
        see(drawing, estimate.ci.low);
        see(drawing, estimate.ci.high);
    }
    char *text = describe_estimate(&estimate);
    point->title =
        sentence("%s, %s: %s", drawing->view->rows[row].strategy, figure_names[figure], text);
    free(text);
}

static void add_cpu(const struct subject *subject) {
    const struct view *view = subject->view;
    struct drawing drawing = {.view = view, .least = INFINITY, .most = 1};
    struct picture *picture = &drawing.picture;
    *picture = (struct picture){.id = "cpu",
                                .title = "CPU time beside the time that the caller is held",
                                .is_across = true,
                                .left = 104,
                                .height = 24 * (double)view->row_count};
    static const enum figure figures[] = {CALL, CPU};
    for (size_t i = 0; i < 2; i++) {
        struct series *series = picture_series(picture, figure_names[figures[i]], 8 + i);
        for (size_t row = 0; row < view->row_count; row++)
            add_pair(&drawing, series, row, figures[i]);
    }
    for (size_t row = 0; row < view->row_count; row++)
        axis_tick(&picture->y, -(double)row, view->rows[row].strategy);
    picture->y.low = 0.4 - (double)view->row_count;
    picture->y.high = 0.6;
    picture->y.name = "";
    axis_times(&picture->x, fmin(drawing.least, drawing.most), drawing.most);
    picture->x.name = "time (log)";
    picture->description = sentence("Work that is not in the call is in the CPU time.");
    add_picture(subject, picture,
                sentence("CPU time of caller and child together (cpu) beside the time that the "
                         "caller is held (call), %s; the bars are 95 %% intervals.",
                         label_at(view->largest).text));
}

void add_samples(const struct subject *subject) {
    if (!subject->has_pictures || subject->view->size_count == 0 ||
        isnan(subject->view->rows[0].call))
        return;
    document_section(subject->document, "tails", "Tails");
    add_tails(subject);
    document_section(subject->document, "order", "Samples in their order");
    add_order(subject);
    document_section(subject->document, "cpu", "CPU beside call");
    add_cpu(subject);
}
