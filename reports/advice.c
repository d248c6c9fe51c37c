#include "advice.h"

#include "analysis.h"
#include "describe.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- relief without new code ---- */

static const struct {
    const char *says, *strategy, *more;
    bool is_small; /* of a process that has no memory yet */
} reliefs[] = {
    {"fork as it is", "fork", "", false},
    {"its memory left out (MADV_DONTFORK)", "fork", "memory:dontfork", false},
    {"huge pages (MADV_HUGEPAGE)", "fork", "pages:thp", false},
    {"a helper started early forks", "fork", "", true},
    {"posix_spawn of this libc", "posix_spawn", "", false},
};
enum { RELIEFS = sizeof reliefs / sizeof *reliefs };

static const struct cell *find_relief(const struct view *view, size_t i, int64_t rss) {
    const struct axes axes = {
        .strategy = (char *)reliefs[i].strategy,
        .rss = reliefs[i].is_small ? 0 : rss,
        .gap = view->gap,
        .at_once = 1,
        .spawners = 1,
        .attributes = NO_ATTRIBUTES,
        .more = (char *)reliefs[i].more,
        .target = view->target,
    };
    const struct cell *cell = find_cell(view->run, axes);
    return cell && count_rounds(view->run, cell) > 0 ? cell : NULL;
}

/* The largest size at which fork was measured as it is and with less to copy; 0: none. */
static int64_t relief_size(const struct view *view) {
    for (size_t size = view->size_count; size-- > 0;) {
        int64_t rss = view->sizes[size];
        if (rss > 0 && find_relief(view, 0, rss) &&
            (find_relief(view, 1, rss) || find_relief(view, 2, rss)))
            return rss;
    }
    return 0;
}

static char *describe_share(const struct estimate *share) {
    if (share->rounds < 2)
        return sentence("%.2g", share->value);
    return sentence("%.2g (%.2g to %.2g)", share->value, share->ci.low, share->ci.high);
}

static void set_text(struct table *table, size_t row, size_t column, char *text) {
    table_set(table, row, column, text);
    free(text);
}

static void show_relief(const struct view *view, int64_t rss, show_table *show, void *to) {
    static const char *const heads[] = {"", "call", "total", "call, of fork's"};
    const struct cell *fork = find_relief(view, 0, rss);
    struct medians relief = {.table = table_new(RELIEFS + 1, 4)};
    size_t rows = 1;
    for (size_t i = 0; i < 4; i++)
        table_set(relief.table, 0, i, heads[i]);
    for (size_t i = 0; i < RELIEFS; i++) {
        const struct cell *cell = find_relief(view, i, rss);
        if (!cell)
            continue;
        double call = median(view->run, cell, CALL), total = median(view->run, cell, TOTAL);
        struct estimate share = estimate_ratio(view->run, cell, fork, CALL);
        table_set(relief.table, rows, 0, reliefs[i].says);
        table_set(relief.table, rows, 1, label_time(call, unit_for(call)).text);
        table_set(relief.table, rows, 2, label_time(total, unit_for(total)).text);
        set_text(relief.table, rows++, 3, describe_share(&share));
    }
    relief.table->rows = rows;
    char *title = sentence("Relief without new code %s: medians", label_at(rss).text);
    show(&(struct shown){.title = title, .medians = &relief}, to);
    free(title);
    medians_free(&relief);
}

/* ---- where it does not matter ---- */

static const struct cell *find_plain(const struct view *view, const char *strategy, int64_t rss,
                                     char *target) {
    const struct axes axes = {.strategy = (char *)strategy,
                              .rss = rss,
                              .gap = view->gap,
                              .at_once = 1,
                              PLAIN,
                              .target = target};
    const struct cell *cell = find_cell(view->run, axes);
    return cell && count_rounds(view->run, cell) > 0 ? cell : NULL;
}

static const double LEAST_ALIKE = 0.9, MOST_ALIKE = 1.1;

/* What the whole spawn takes with the library, as a share of what it takes with another: malloced;
 * NULL where the one may take longer than the other, or it was not measured. */
static char *describe_alike(const struct view *view, const struct cell *start,
                            const struct cell *other) {
    if (!start || !other)
        return NULL;
    struct estimate share = estimate_ratio(view->run, start, other, TOTAL);
    double low = share.rounds < 2 ? share.value : share.ci.low;
    double high = share.rounds < 2 ? share.value : share.ci.high;
    return low >= LEAST_ALIKE && high <= MOST_ALIKE ? describe_share(&share) : NULL;
}

/* Whether there is something for a row, which a table gets. */
static bool fill_share(struct table *table, size_t row, const struct view *view, int64_t rss,
                       char *target) {
    const struct cell *start = find_plain(view, "forkless_start", rss, target);
    char *forks = describe_alike(view, start, find_plain(view, "fork", rss, target));
    char *posix = describe_alike(view, start, find_plain(view, "posix_spawn", rss, target));
    bool any = forks || posix;
    if (any && table) {
        set_text(table, row, 0, sentence("%s %s", target, label_at(rss).text));
        table_set(table, row, 1, forks ? forks : "-");
        table_set(table, row, 2, posix ? posix : "-");
    }
    free(posix);
    free(forks);
    return any;
}

/* How many rows there are, the head among them; a table gets them. */
static size_t fill_shares(struct table *table, const struct view *view) {
    size_t count, rows = 1;
    char **targets = find_targets(view->run, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t size = 0; size < view->size_count; size++)
            rows += fill_share(table, rows, view, view->sizes[size], targets[i]);
    free(targets);
    return rows;
}

/* Where there is one target, the ranking says as much. */
static bool has_targets(const struct view *view) {
    size_t count, with = 0;
    char **targets = find_targets(view->run, &count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t size = 0; size < view->size_count && !found; size++)
            found = find_plain(view, "fork", view->sizes[size], targets[i]) &&
                    find_plain(view, "forkless_start", view->sizes[size], targets[i]);
        with += found;
    }
    free(targets);
    return with > 1;
}

static void show_shares(const struct view *view, show_table *show, void *to) {
    static const char *const heads[] = {"target", "of fork's", "of posix_spawn's"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    struct medians shares = {.table = table_new(view->run->cell_count + 1, COLUMNS)};
    for (size_t i = 0; i < COLUMNS; i++)
        table_set(shares.table, 0, i, heads[i]);
    shares.table->rows = fill_shares(shares.table, view);
    show(&(struct shown){.title = "When it does not matter: \"total\" with forkless_start",
                         .detail =
                             "surely 0.9 to 1.1: the child takes about as long either way, and "
                             "its caller is held for less all the same",
                         .medians = &shares},
         to);
    medians_free(&shares);
}

static bool has_shares(const struct view *view) {
    return has_targets(view) && fill_shares(NULL, view) > 1;
}

bool has_advice(const struct view *view) {
    return relief_size(view) > 0 || has_shares(view);
}

void show_advice(const struct view *view, show_table *show, void *to) {
    int64_t rss = relief_size(view);
    if (rss > 0)
        show_relief(view, rss, show, to);
    if (has_shares(view))
        show_shares(view, show, to);
}
