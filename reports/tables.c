#include "tables.h"

#include "added.h"
#include "along.h"
#include "analysis.h"
#include "describe.h"
#include "further.h"
#include "memory.h"
#include "others.h"
#include "phases.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct page {
    const struct view *view;
    struct marks *marks;
    show_table *show;
    void *to;
};

static void show_medians(const struct page *page, struct shown shown, const char *names,
                         const struct column *columns, size_t count) {
    struct medians medians = medians_make(page->view, names, columns, count, page->marks);
    shown.medians = &medians;
    page->show(&shown, page->to);
    medians_free(&medians);
}

static void show_calls(const struct page *page) {
    const struct view *view = page->view;
    if (view->size_count == 0)
        return;
    char *rounds = describe_rounds(view), *gap = describe_gap(view->gap, "spawns");
    char *measured =
        sentence("%s, the parent's memory idle, %s", describe_target(view->target), gap);
    char *title = sentence("How long one spawn holds its caller (\"call\"), %s", rounds);
    free(gap);
    free(rounds);

    struct column *columns = must(calloc(view->size_count + 1, sizeof *columns));
    struct axes axes = {.gap = view->gap, .at_once = 1, PLAIN, .target = view->target};
    for (size_t i = 0; i < view->size_count; i++) {
        axes.rss = view->sizes[i];
        columns[i] = (struct column){.head = label_size(axes.rss), .figure = CALL, .axes = axes};
    }
    struct column *last = &columns[view->size_count];
    axes.rss = view->largest;
    *last = (struct column){.shows = P99, .figure = CALL, .axes = axes};
    snprintf(last->head.text, sizeof last->head.text, "p99 %.27s", label_at(axes.rss).text);
    show_medians(page, (struct shown){.title = title, .detail = measured}, "parent's memory",
                 columns, view->size_count + 1);
    free(columns);
    free(title);
    free(measured);
}

/* Whether some row has this figure in its cell with these axes. */
static bool any_has(const struct view *view, enum figure figure, struct axes axes) {
    for (size_t i = 0; i < view->row_count; i++) {
        axes.strategy = view->rows[i].strategy;
        if (!isnan(median(view->run, find_cell(view->run, axes), figure)))
            return true;
    }
    return false;
}

/* The whole of one spawn; how many columns that is. */
static size_t fill_figures(const struct view *view, struct axes axes, struct column *columns) {
    size_t count = 0;
    for (enum figure figure = CALL; figure < SPAWN_FIGURES; figure++) {
        if (figure == READY && !any_has(view, READY, axes))
            continue;
        columns[count] = (struct column){.figure = figure, .axes = axes};
        snprintf(columns[count++].head.text, sizeof columns->head.text, "%s", figure_names[figure]);
    }
    return count;
}

static void show_whole(const struct page *page) {
    const struct view *view = page->view;
    if (view->size_count == 0)
        return;
    struct axes axes = {
        .rss = view->largest, .gap = view->gap, .at_once = 1, PLAIN, .target = view->target};
    struct column columns[SPAWN_FIGURES + 1];
    size_t count = fill_figures(view, axes, columns);
    axes.gap = 0;
    if (view->gap != 0 && any_has(view, CALL, axes))
        columns[count++] =
            (struct column){.head = {"call back to back"}, .figure = CALL, .axes = axes};
    char *title = sentence("The whole spawn %s: medians", label_at(view->largest).text);
    show_medians(page, (struct shown){.title = title}, "", columns, count);
    free(title);
}

static size_t fill_burst(struct axes axes, struct column *columns) {
    const char *held = axes.spawners > 1 ? "all called" : "caller held";
    columns[0] = (struct column){.figure = CALL, .axes = axes};
    snprintf(columns[0].head.text, sizeof columns->head.text, "%s", held);
    columns[1] = (struct column){.head = {"all reaped"}, .figure = TOTAL, .axes = axes};
    columns[2] =
        (struct column){.head = {"per second"}, .shows = PER_SECOND, .figure = TOTAL, .axes = axes};
    return 3;
}

/* With more descriptors, and its call without them. */
static size_t fill_open(const struct view *view, struct axes axes, struct column *columns) {
    size_t count = fill_figures(view, axes, columns);
    axes.fds = 0;
    if (any_has(view, CALL, axes))
        columns[count++] = (struct column){.head = {"call without"}, .figure = CALL, .axes = axes};
    return count;
}

static bool has_attributes(const struct axes *axes) {
    return strcmp(axes->attributes, NO_ATTRIBUTES);
}

static char *describe_what(const struct axes *axes) {
    if (axes->spawners > 1 && axes->at_once > 1)
        return sentence("%jd spawners, each with %jd at once", (intmax_t)axes->spawners,
                        (intmax_t)axes->at_once);
    if (axes->spawners > 1)
        return sentence("%jd spawners at once", (intmax_t)axes->spawners);
    if (axes->at_once > 1)
        return sentence("%jd at once", (intmax_t)axes->at_once);
    return sentence("One spawn");
}

/* Where a table is from: the size, and what is not as in the rest of the page. */
static char *describe_where(const struct view *view, const struct axes *axes) {
    bool many = axes->at_once > 1 || axes->spawners > 1;
    char *gap = describe_gap(axes->gap, many ? "bursts" : "spawns");
    char *fds =
        axes->fds ? sentence(", %jd descriptors open", (intmax_t)axes->fds) : sentence("%s", "");
    bool usual_gap = axes->gap == view->gap, usual_target = !strcmp(axes->target, view->target);
    char *more = describe_more(axes);
    char *where =
        sentence("%s%s%s%s%s%s%s%s", label_at(axes->rss).text, *more ? ", " : "", more, fds,
                 usual_gap ? "" : ", ", usual_gap ? "" : gap, usual_target ? "" : ", ",
                 usual_target ? "" : describe_target(axes->target));
    free(more);
    free(fds);
    free(gap);
    return where;
}

/* The same, and what its commands ask for. */
static char *describe_place(const struct view *view, const struct axes *axes) {
    char *where = describe_where(view, axes);
    if (!has_attributes(axes))
        return where;
    char *place = sentence("%s, attributes %s", where, axes->attributes);
    free(where);
    return place;
}

/* One place of the matrix. */
static void show_place(const struct page *page, struct axes axes) {
    const struct view *view = page->view;
    struct column columns[SPAWN_FIGURES + 1];
    bool many = axes.at_once > 1 || axes.spawners > 1;
    size_t count = many       ? fill_burst(axes, columns)
                   : axes.fds ? fill_open(view, axes, columns)
                              : fill_figures(view, axes, columns);
    char *what = describe_what(&axes), *place = describe_place(view, &axes);
    char *title = sentence("%s %s: medians", what, place);
    show_medians(page, (struct shown){.title = title}, "", columns, count);
    free(title);
    free(place);
    free(what);
}

static void show_attributes(const struct page *page, struct axes axes) {
    struct medians added = attributes_added(page->view, axes, page->marks);
    char *where = describe_where(page->view, &axes);
    char *title = sentence("What each attribute adds to \"call\" %s (95 %% intervals)", where);
    page->show(&(struct shown){.title = title, .medians = &added}, page->to);
    free(title);
    free(where);
    medians_free(&added);
}

static void show_phases(const struct page *page, struct axes axes, const char *detail) {
    struct medians phases = phases_make(page->view, axes, page->marks);
    struct axes untraced = axes;
    untraced.more = further_without(axes.more, "traced");
    char *place = describe_place(page->view, &untraced), *what = describe_what(&axes);
    *what = (char)tolower((unsigned char)*what);
    char *title = sentence("Where the time of a spawn goes: %s %s", what, place);
    page->show(&(struct shown){.title = title, .detail = detail, .medians = &phases}, page->to);
    free(title);
    free(what);
    free(place);
    free(untraced.more);
    medians_free(&phases);
}

static void show_bursts(const struct page *page) {
    const struct view *view = page->view;
    for (size_t i = 0; i < view->burst_count; i++) {
        const struct burst *burst = &view->bursts[i];
        show_place(page, (struct axes){.rss = burst->rss,
                                       .gap = burst->gap,
                                       .at_once = burst->at_once,
                                       PLAIN,
                                       .target = view->target});
    }
}

/* The calls with another gap than the page's, at all sizes. */
static void show_gap(const struct page *page, struct axes axes) {
    const struct view *view = page->view;
    size_t count;
    int64_t *sizes = find_sizes(view, axes.gap, &count);
    struct column *columns = must(calloc(count, sizeof *columns));
    for (size_t i = 0; i < count; i++) {
        axes.rss = sizes[i];
        columns[i] = (struct column){.head = label_size(axes.rss), .figure = CALL, .axes = axes};
    }
    char *gap = describe_gap(axes.gap, "spawns");
    char *title = sentence("How long one spawn holds its caller, %s: medians", gap);
    show_medians(page, (struct shown){.title = title}, "parent's memory", columns, count);
    free(title);
    free(gap);
    free(columns);
    free(sizes);
}

/* The total of every target at one size. */
static void show_targets(const struct page *page, struct axes axes) {
    const struct view *view = page->view;
    size_t count;
    char **targets = find_targets(view->run, &count);
    struct column *columns = must(calloc(count, sizeof *columns));
    for (size_t i = 0; i < count; i++) {
        axes.target = targets[i];
        columns[i] = (struct column){.figure = TOTAL, .axes = axes};
        snprintf(columns[i].head.text, sizeof columns->head.text, "%s", targets[i]);
    }
    char *title = sentence("Other targets %s: medians of \"total\"", label_at(axes.rss).text);
    show_medians(page, (struct shown){.title = title}, "", columns, count);
    free(title);
    free(columns);
    free(targets);
}

/* From which value of an axis of numbers on fork holds its caller longer. */
static char *describe_crossings(const struct page *page, const char *axis,
                                const struct cell *cell) {
    const struct view *view = page->view;
    struct axes axes = cell->axes;
    axes.strategy = "fork";
    const struct cell *fork = find_cell(view->run, axes);
    char *text = sentence("%s", "");
    for (size_t i = 0; i < view->ranked && fork; i++) {
        axes.strategy = view->rows[i].strategy;
        const struct cell *other = find_cell(view->run, axes);
        if (!other || other == fork)
            continue;
        struct estimate from = estimate_crossing_along(view->run, axis, fork, other, CALL);
        if (from.rounds < 2 || !(from.ci.low > 0) || !isfinite(from.ci.high))
            continue;
        char *longer = sentence("%s%s%s from %.0f (%.0f to %.0f)", text, *text ? ", than " : "",
                                axes.strategy, from.value, from.ci.low, from.ci.high);
        free(text);
        text = longer;
    }
    char *said = *text ? sentence("fork is dearer than %s %s on", text, axis) : NULL;
    free(text);
    return said;
}

/* The call at each value of one further axis, and as it is without. */
static void show_along(const struct page *page, const char *axis, const struct cell *like) {
    size_t count;
    const struct cell **cells = find_along(page->view->run, axis, like, &count);
    struct column *columns = must(calloc(count, sizeof *columns));
    for (size_t i = 0; i < count; i++) {
        const char *value = strchr(cells[i]->axes.more, ':');
        columns[i] = (struct column){.figure = CALL, .axes = cells[i]->axes};
        snprintf(columns[i].head.text, sizeof columns->head.text, "%s", value ? value + 1 : "-");
    }
    struct axes axes = like->axes;
    axes.more = "";
    char *what = describe_what(&axes), *place = describe_place(page->view, &axes);
    char *title = sentence("%s %s by %s: medians of \"call\"", what, place, axis);
    char *crossings = isdigit((unsigned char)like->axes.more[strlen(axis) + 1])
                          ? describe_crossings(page, axis, like)
                          : NULL;
    show_medians(page, (struct shown){.title = title, .detail = crossings}, axis, columns, count);
    free(crossings);
    free(title);
    free(place);
    free(what);
    free(columns);
    free(cells);
}

static bool is_left(const struct page *page, size_t i) {
    const struct run *run = page->view->run;
    const struct cell *cell = &run->cells[i];
    return !page->marks->shown[i] && is_spawn(cell) && !is_of_others(cell) &&
           count_rounds(run, cell) > 0;
}

/* Wherever they stand among those of other tracers, whose tables they would be lost in. */
static void show_all_phases(const struct page *page) {
    const struct run *run = page->view->run;
    const char *detail = phases_detail; /* said once */
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_left(page, i) && tells_phases(run, &run->cells[i])) {
            show_phases(page, run->cells[i].axes, detail);
            detail = NULL;
        }
}

/* What was measured beside the page's main tables; the first table that fits a cell shows it. */
static void show_rest(const struct page *page) {
    const struct view *view = page->view;
    for (size_t i = 0; i < view->run->cell_count; i++) {
        const struct cell *cell = &view->run->cells[i];
        if (!is_left(page, i))
            continue;
        bool usual_target = !strcmp(cell->axes.target, view->target);
        char *axis = single_axis(cell);
        if (has_attributes(&cell->axes) && tells_added(view->run, cell))
            show_attributes(page, cell->axes);
        else if (axis)
            show_along(page, axis, cell);
        else if (!is_plain(cell))
            show_place(page, cell->axes);
        else if (cell->axes.at_once == 1 && usual_target)
            show_gap(page, cell->axes);
        else if (cell->axes.at_once == 1 && cell->axes.gap == view->gap)
            show_targets(page, cell->axes);
        else
            show_place(page, cell->axes);
        free(axis);
    }
}

void show_tables(const struct view *view, struct marks *marks, show_table *show, void *to) {
    struct page page = {.view = view, .marks = marks, .show = show, .to = to};
    show_calls(&page);
    show_whole(&page);
    show_bursts(&page);
    show_all_phases(&page);
    show_rest(&page);
}
