#include "text.h"

#include "analysis.h"
#include "disturbance.h"
#include "foot.h"
#include "layout.h"
#include "medians.h"
#include "memory.h"
#include "verdict.h"
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct page {
    FILE *out;
    const struct run *run;
    struct marks marks;
};

static char *describe_noise(const struct run *run) {
    struct noise heard = noise(run);
    if (!heard.known)
        return sentence("unknown: no block was finished");
    char *others = isnan(heard.other) ? sentence("%s", "")
                                      : sentence(", other programs %.1f %%", heard.other * 100);
    char *disturbance = describe_disturbance(run);
    char *text = sentence("%s: steal %.1f %%, load %.1f%s%s%s", heard.high ? "high" : "low",
                          heard.steal * 100, heard.load, others, disturbance ? "; " : "",
                          disturbance ? disturbance : "");
    free(disturbance);
    free(others);
    return text;
}

static void print_warnings(const struct page *page) {
    size_t count;
    const char **warnings = find_warnings(page->run, &count);
    for (size_t i = 0; i < count; i++)
        print_named(page->out, i == 0 ? "Beware " : "       ", sentence("%s", warnings[i]));
    free(warnings);
}

static void print_head(const struct page *page) {
    const struct host *host = &page->run->host;
    print_named(page->out, "Host   ",
                sentence("%jd x %s%s, Linux %s, %s, %s pages", (intmax_t)host->cpus, host->cpu,
                         host->is_virtual ? " (virtual)" : "", host->kernel, host->libc,
                         label_size(host->page_size).text));
    print_named(page->out, "Noise  ", describe_noise(page->run));
    print_warnings(page);
}

static char *describe_gap(int64_t gap, const char *between) {
    return gap ? sentence("%s of work between %s", label_gap(gap).text, between)
               : sentence("back to back");
}

static const char *describe_target(const char *target) {
    static const char *const known[][2] = {{"tiny", "a tiny static program"},
                                           {"silent", "a tiny static program that does not stamp"},
                                           {"static", "a static program"},
                                           {"dynamic", "a dynamic program"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(target, known[i][0]))
            return known[i][1];
    return target;
}

/* "median of 8 rounds", or "medians of 5 to 8 rounds" where some cells have fewer. */
static char *describe_rounds(const struct view *view) {
    size_t least = view->run->rounds, most = 0;
    for (size_t i = 0; i < view->row_count; i++)
        for (size_t size = 0; size < view->size_count; size++) {
            const struct cell *cell = view_cell(view, view->rows[i].strategy, view->sizes[size]);
            size_t rounds = cell ? count_rounds(view->run, cell) : 0;
            if (rounds == 0)
                continue;
            least = rounds < least ? rounds : least;
            most = rounds > most ? rounds : most;
        }
    if (most == 0)
        return sentence("never measured");
    if (least < most)
        return sentence("medians of %zu to %zu rounds", least, most);
    return sentence("median of %zu round%s", most, most == 1 ? "" : "s");
}

static void print_calls(struct page *page, const struct view *view) {
    if (view->size_count == 0)
        return;
    char *rounds = describe_rounds(view), *gap = describe_gap(view->gap, "spawns");
    char *measured =
        sentence("%s, the parent's memory idle, %s", describe_target(view->target), gap);
    fprintf(page->out, "\nHow long one spawn holds its caller (\"call\"), %s\n", rounds);
    print_words(page->out, measured, 0, 0);
    fputc('\n', page->out);
    free(measured);
    free(gap);
    free(rounds);

    struct column *columns = must(calloc(view->size_count + 1, sizeof *columns));
    struct axes axes = {.gap = view->gap, .at_once = 1, .target = view->target};
    for (size_t i = 0; i < view->size_count; i++) {
        axes.rss = view->sizes[i];
        columns[i] = (struct column){.head = label_size(axes.rss), .figure = CALL, .axes = axes};
    }
    struct column *last = &columns[view->size_count];
    axes.rss = view->largest;
    *last = (struct column){.shows = P99, .figure = CALL, .axes = axes};
    snprintf(last->head.text, sizeof last->head.text, "p99 %.27s", label_at(axes.rss).text);
    print_medians(page->out, view, "parent's memory", columns, view->size_count + 1, &page->marks);
    free(columns);
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
    for (enum figure figure = CALL; figure < FIGURES; figure++) {
        if (figure == READY && !any_has(view, READY, axes))
            continue;
        columns[count] = (struct column){.figure = figure, .axes = axes};
        snprintf(columns[count++].head.text, sizeof columns->head.text, "%s", figure_names[figure]);
    }
    return count;
}

static void print_whole(struct page *page, const struct view *view) {
    if (view->size_count == 0)
        return;
    struct axes axes = {
        .rss = view->largest, .gap = view->gap, .at_once = 1, .target = view->target};
    struct column columns[FIGURES + 1];
    size_t count = fill_figures(view, axes, columns);
    axes.gap = 0;
    if (view->gap != 0 && any_has(view, CALL, axes))
        columns[count++] =
            (struct column){.head = {"call back to back"}, .figure = CALL, .axes = axes};
    fprintf(page->out, "\nThe whole spawn %s: medians\n", label_at(view->largest).text);
    print_medians(page->out, view, "", columns, count, &page->marks);
}

static size_t fill_burst(struct axes axes, struct column *columns) {
    columns[0] = (struct column){.head = {"caller held"}, .figure = CALL, .axes = axes};
    columns[1] = (struct column){.head = {"all reaped"}, .figure = TOTAL, .axes = axes};
    columns[2] =
        (struct column){.head = {"per second"}, .shows = PER_SECOND, .figure = TOTAL, .axes = axes};
    return 3;
}

/* One place of the matrix, whose head names what is not as in the rest of the page. */
static void print_place(struct page *page, const struct view *view, struct axes axes) {
    struct column columns[FIGURES];
    bool burst = axes.at_once > 1;
    size_t count = burst ? fill_burst(axes, columns) : fill_figures(view, axes, columns);
    char *what = burst ? sentence("%jd at once", (intmax_t)axes.at_once) : sentence("One spawn");
    char *gap = describe_gap(axes.gap, burst ? "bursts" : "spawns");
    bool usual_gap = axes.gap == view->gap, usual_target = !strcmp(axes.target, view->target);
    fputc('\n', page->out);
    print_named(page->out, "",
                sentence("%s %s%s%s%s%s: medians", what, label_at(axes.rss).text,
                         usual_gap ? "" : ", ", usual_gap ? "" : gap, usual_target ? "" : ", ",
                         usual_target ? "" : describe_target(axes.target)));
    free(gap);
    free(what);
    print_medians(page->out, view, "", columns, count, &page->marks);
}

static void print_bursts(struct page *page, const struct view *view) {
    for (size_t i = 0; i < view->burst_count; i++) {
        const struct burst *burst = &view->bursts[i];
        print_place(page, view,
                    (struct axes){.rss = burst->rss,
                                  .gap = burst->gap,
                                  .at_once = burst->at_once,
                                  .target = view->target});
    }
}

/* The calls with another gap than the page's, at all sizes. */
static void print_gap(struct page *page, const struct view *view, struct axes axes) {
    size_t count;
    int64_t *sizes = find_sizes(view, axes.gap, &count);
    struct column *columns = must(calloc(count, sizeof *columns));
    for (size_t i = 0; i < count; i++) {
        axes.rss = sizes[i];
        columns[i] = (struct column){.head = label_size(axes.rss), .figure = CALL, .axes = axes};
    }
    char *gap = describe_gap(axes.gap, "spawns");
    fprintf(page->out, "\nHow long one spawn holds its caller, %s: medians\n", gap);
    print_medians(page->out, view, "parent's memory", columns, count, &page->marks);
    free(gap);
    free(columns);
    free(sizes);
}

/* The total of every target at one size. */
static void print_targets(struct page *page, const struct view *view, struct axes axes) {
    size_t count;
    char **targets = find_targets(page->run, &count);
    struct column *columns = must(calloc(count, sizeof *columns));
    for (size_t i = 0; i < count; i++) {
        axes.target = targets[i];
        columns[i] = (struct column){.figure = TOTAL, .axes = axes};
        snprintf(columns[i].head.text, sizeof columns->head.text, "%s", targets[i]);
    }
    fprintf(page->out, "\nOther targets %s: medians of \"total\"\n", label_at(axes.rss).text);
    print_medians(page->out, view, "", columns, count, &page->marks);
    free(columns);
    free(targets);
}

/* What was measured beside the page's main tables; the first table that fits a cell shows it. */
static void print_rest(struct page *page, const struct view *view) {
    for (size_t i = 0; i < page->run->cell_count; i++) {
        const struct cell *cell = &page->run->cells[i];
        if (page->marks.shown[i] || !is_spawn(cell) || count_rounds(page->run, cell) == 0)
            continue;
        bool usual_target = !strcmp(cell->axes.target, view->target);
        if (cell->axes.at_once == 1 && usual_target)
            print_gap(page, view, cell->axes);
        else if (cell->axes.at_once == 1 && cell->axes.gap == view->gap)
            print_targets(page, view, cell->axes);
        else
            print_place(page, view, cell->axes);
    }
}

void text_print(const struct run *run, FILE *out) {
    struct page page = {.out = out,
                        .run = run,
                        .marks = {.shown = must(calloc(run->cell_count, sizeof(bool))),
                                  .explained = must(calloc(run->cell_count, sizeof(bool)))}};
    size_t count;
    char **targets = find_targets(run, &count);
    print_head(&page);
    if (count > 0) {
        struct view view;
        view_open(&view, run, targets[0]);
        print_calls(&page, &view);
        print_whole(&page, &view);
        print_bursts(&page, &view);
        print_rest(&page, &view);
        verdict_print(&view, out);
        view_close(&view);
    }
    free(targets);
    foot_print(run, page.marks.explained, out);
    free(page.marks.shown);
    free(page.marks.explained);
}
