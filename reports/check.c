#include "check.h"

#include "along.h"
#include "analysis.h"
#include "layout.h"
#include "memory.h"
#include "problems.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_TO_DECIDE = 10 };
enum verdict { HOLDS, MISSED, UNDECIDED, VERDICTS };

static const char *const verdict_names[VERDICTS] = {"holds", "missed", "undecided"};

/* Why the run cannot say anything of a cell: malloced; NULL when it can. */
static char *lacks_cell(const struct run *run, const char *name, enum figure figure) {
    const struct cell *cell = run_cell(run, name);
    if (!cell)
        return sentence("the run does not hold %s", name);
    if (count_samples(run, cell, figure) > 0)
        return NULL;
    char *why = why_missing(run, cell);
    char *text = sentence("%s: %s", name, why);
    free(why);
    return text;
}

static struct axes axes_of(char *strategy) {
    return (struct axes){
        .strategy = strategy, .gap = DEFAULT_GAP, .at_once = 1, PLAIN, .target = DEFAULT_TARGET};
}

static char *lacks_slope(const struct run *run, const char *axis, const char *name,
                         enum figure figure) {
    char *why = lacks_cell(run, name, figure);
    if (why || estimate_slope_along(run, axis, run_cell(run, name), figure).rounds)
        return why;
    return sentence("the run does not measure %s with another value of %s", name, axis);
}

static char *lacks_growth(const struct run *run, char *strategy, enum figure figure) {
    struct estimate slope = estimate_growth(run, axes_of(strategy), figure).slope;
    return slope.rounds ? NULL : sentence("the run does not measure %s at two sizes", strategy);
}

static char *lacks_samples(const struct run *run, const struct bound *bound, const char *cell) {
    double p = bound->percentile / 100;
    size_t count = count_samples(run, run_cell(run, cell), bound->figure);
    if (p <= 0.5 || enough_for(count, p))
        return NULL;
    return sentence("%zu samples are too few for p%g", count, bound->percentile);
}

static char *lacks_one(const struct run *run, const struct bound *bound, char *of) {
    bool grows = bound->kind == SLOPE || bound->kind == SLOPE_RATIO;
    return bound->along ? lacks_slope(run, bound->along, of, bound->figure)
           : grows      ? lacks_growth(run, of, bound->figure)
                        : lacks_cell(run, of, bound->figure);
}

/* Why the run has no estimate for the bound: malloced; NULL when it has one. */
static char *lacks(const struct run *run, const struct bound *bound) {
    char *why = lacks_one(run, bound, bound->of);
    if (!why && bound->over)
        why = lacks_one(run, bound, bound->over);
    if (!why && (bound->kind == VALUE || bound->kind == RATIO))
        why = lacks_samples(run, bound, bound->of);
    if (!why && bound->kind == RATIO)
        why = lacks_samples(run, bound, bound->over);
    return why;
}

static double children_of(const struct cell *cell) {
    return (double)(cell->commands > 1 ? cell->commands : cell->axes.at_once * cell->axes.spawners);
}

static struct estimate scale(struct estimate estimate, double factor) {
    estimate.value *= factor;
    estimate.ci.low *= factor;
    estimate.ci.high *= factor;
    return estimate;
}

/* Each spawns at the children of its sample by the figure. */
static struct estimate estimate_rates(const struct run *run, const struct cell *of,
                                      const struct cell *over, enum figure figure) {
    return scale(estimate_ratio(run, over, of, figure), children_of(of) / children_of(over));
}

static struct estimate estimate_for(const struct run *run, const struct bound *bound) {
    switch (bound->kind) {
    case DIFFERENCE:
        return scale(estimate_difference(run, run_cell(run, bound->of), run_cell(run, bound->over),
                                         bound->figure),
                     1 / bound->per);
    case RATE_RATIO:
        return estimate_rates(run, run_cell(run, bound->of), run_cell(run, bound->over),
                              bound->figure);
    case RATIO:
        return estimate_percentile_ratio(run, run_cell(run, bound->of), run_cell(run, bound->over),
                                         bound->figure, bound->percentile / 100);
    case SLOPE:
        if (bound->along)
            return estimate_slope_along(run, bound->along, run_cell(run, bound->of), bound->figure);
        return estimate_growth(run, axes_of(bound->of), bound->figure).slope;
    case SLOPE_RATIO:
        if (bound->along)
            return estimate_ratio_along(run, bound->along, run_cell(run, bound->of),
                                        run_cell(run, bound->over), bound->figure);
        return estimate_growth_ratio(run, axes_of(bound->of), axes_of(bound->over), bound->figure);
    default:
        return estimate_percentile(run, run_cell(run, bound->of), bound->figure,
                                   bound->percentile / 100);
    }
}

static enum verdict judge(const struct bound *bound, const struct estimate *estimate) {
    double far = bound->at_least ? -estimate->ci.low : estimate->ci.high;
    double near = bound->at_least ? -estimate->ci.high : estimate->ci.low;
    double limit = bound->at_least ? -bound->limit : bound->limit;
    if (estimate->rounds < ROUNDS_TO_DECIDE)
        return UNDECIDED;
    return far <= limit ? HOLDS : near > limit ? MISSED : UNDECIDED;
}

static bool is_ratio(const struct bound *bound) {
    return bound->kind == RATIO || bound->kind == RATE_RATIO || bound->kind == SLOPE_RATIO;
}

/* Short limits are of the harness's own share, and read best in ns. */
static enum unit unit_of(const struct bound *bound) {
    return bound->limit < 5000 ? NS : unit_for(bound->limit);
}

/* Of each of many. */
static bool is_fine(const struct bound *bound) {
    return !is_ratio(bound) && bound->limit < 100;
}

static struct label label_bare(const struct bound *bound, double amount) {
    struct label label;
    if (is_fine(bound)) {
        snprintf(label.text, sizeof label.text, "%.1f", amount);
        return label;
    }
    if (!is_ratio(bound))
        return label_number(amount, unit_of(bound));
    int decimals = 2 - (int)floor(log10(bound->limit));
    if (fabs(amount) < pow(10, -(decimals > 3 ? decimals : 3)) / 2)
        amount = 0;
    snprintf(label.text, sizeof label.text, "%.*f", decimals > 3 ? decimals : 3, amount);
    return label;
}

static struct label label_amount(const struct bound *bound, double amount) {
    if (is_ratio(bound))
        return label_bare(bound, amount);
    struct label time = label_time(amount, unit_of(bound)), label;
    if (is_fine(bound))
        snprintf(time.text, sizeof time.text, "%.26s ns", label_bare(bound, amount).text);
    snprintf(label.text, sizeof label.text, "%.26s%s", time.text,
             bound->kind == SLOPE && !bound->along ? "/GiB" : "");
    return label;
}

static void print_finding(const struct bound *bound, const struct estimate *estimate, int id_width,
                          const char *verdict, FILE *out) {
    struct label value = {"-"}, interval = {""}, limit = label_amount(bound, bound->limit);
    if (estimate->rounds > 0)
        value = label_amount(bound, estimate->value);
    if (estimate->rounds > 1)
        snprintf(interval.text, sizeof interval.text, "%.13s to %.13s",
                 label_bare(bound, estimate->ci.low).text,
                 label_bare(bound, estimate->ci.high).text);
    fprintf(out, "  %-*s  %-10s %12s  %-19s  %s %s\n", id_width, bound->id, verdict, value.text,
            interval.text, bound->at_least ? ">=" : "<=", limit.text);
}

static enum verdict check_bound(const struct bound *bound, const struct run *run, int id_width,
                                bool decides, FILE *out) {
    struct estimate estimate = {.rounds = 0};
    char *why = lacks(run, bound);
    if (!why) {
        estimate = estimate_for(run, bound);
        if (estimate.rounds < ROUNDS_TO_DECIDE && estimate.rounds < run->rounds)
            why = sentence("only %zu rounds measured it", estimate.rounds);
    }
    enum verdict verdict = judge(bound, &estimate);
    struct label word;
    snprintf(word.text, sizeof word.text, "%s%s", verdict_names[verdict], decides ? "" : "*");
    print_words(out, bound->says, 0, 0);
    print_finding(bound, &estimate, id_width, word.text, out);
    if (why)
        print_named(out, "  ", why);
    return verdict;
}

static int longest_id(const struct bounds *bounds) {
    size_t longest = 0;
    for (size_t i = 0; i < bounds->count; i++)
        if (strlen(bounds->list[i].id) > longest)
            longest = strlen(bounds->list[i].id);
    return (int)longest;
}

size_t check_bounds(const struct bounds *bounds, const struct run *run, FILE *out) {
    size_t counts[VERDICTS] = {0};
    bool decides = strcmp(run->matrix, "quick") != 0;
    struct bounds asked = bounds_for(bounds, run);
    int id_width = longest_id(&asked);
    fprintf(out, "  %-*s  %-10s %12s  %-19s  limit\n", id_width, "", "", "value", "95% interval");
    for (size_t i = 0; i < asked.count; i++)
        counts[check_bound(&asked.list[i], run, id_width, decides, out)]++;
    bounds_free(&asked);
    fprintf(out, "\n%s: %zu hold, %zu missed, %zu undecided\n", run->path, counts[HOLDS],
            counts[MISSED], counts[UNDECIDED]);
    if (run->rounds < ROUNDS_TO_DECIDE)
        fprintf(out, "%zu round%s decide%s no bound: it takes %d\n", run->rounds,
                run->rounds == 1 ? "" : "s", run->rounds == 1 ? "s" : "", ROUNDS_TO_DECIDE);
    if (!decides)
        fprintf(out, "* only indicated: a quick run decides no bound, and none counts as missed\n");
    return decides ? counts[MISSED] : 0;
}
