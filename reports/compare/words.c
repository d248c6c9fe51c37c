#include "words.h"

#include "disturbance.h"
#include "fields.h"
#include "floor.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[VERDICTS] = {"not told apart", "faster", "slower", "inconclusive"};

struct label label_multiple(const struct run *run, const struct cell *cell, enum figure figure) {
    struct estimate multiple = estimate_multiple(run, cell, figure);
    struct label label = {""};
    if (multiple.rounds == 0)
        return (struct label){"-"};
    if (!(multiple.value > 0))
        return (struct label){"0"};
    struct label number = label_rate(multiple.value);
    double reach = fmax(multiple.ci.high - multiple.value, multiple.value - multiple.ci.low);
    if (multiple.rounds < 2)
        snprintf(label.text, sizeof label.text, "%.16s", number.text);
    else
        snprintf(label.text, sizeof label.text, "%.16s ±%s%.0f%%", number.text,
                 reach > 9.99 * multiple.value ? ">" : "", fmin(999, 100 * reach / multiple.value));
    return label;
}

struct label label_median(const struct run *run, const struct cell *cell, enum figure figure) {
    double ns = median(run, cell, figure);
    return label_time(ns, unit_for(ns));
}

static struct label label_percent(double ratio) {
    struct label label;
    double percent = (ratio - 1) * 100;
    bool is_small = fabs(percent) < 0.05;
    snprintf(label.text, sizeof label.text, fabs(percent) < 999.5 ? "%+.1f%%" : "%+.4g%%",
             is_small ? 0 : percent);
    return label;
}

struct label label_change(const struct change *change) {
    return change->is_told ? label_percent(change->ratio) : (struct label){"~"};
}

struct label label_interval(const struct change *change) {
    struct label label = {""};
    if (isfinite(change->ci.low) && isfinite(change->ci.high))
        snprintf(label.text, sizeof label.text, "%.12s to %.12s",
                 label_percent(change->ci.low).text, label_percent(change->ci.high).text);
    return label;
}

struct label label_p(const struct change *change) {
    struct label label = {"p<0.001"};
    if (change->p >= 0.001)
        snprintf(label.text, sizeof label.text, change->p < 0.1 ? "p=%.3f" : "p=%.2f", change->p);
    return label;
}

struct label label_count(const struct comparison *comparison, const struct change *change) {
    struct label label;
    if (comparison->is_paired)
        snprintf(label.text, sizeof label.text, "n=%zu", change->a_rounds);
    else
        snprintf(label.text, sizeof label.text, "n=%zu+%zu", change->a_rounds, change->b_rounds);
    return label;
}

struct label label_limit(const struct comparison *comparison) {
    struct label label;
    snprintf(label.text, sizeof label.text, "%g %%", comparison->question.fail_above * 100);
    return label;
}

char *describe_run(const struct run *run) {
    char *started = run->started ? sentence(", %s", run->started) : sentence("%s", "");
    char *library = run->library ? sentence(", library %.12s", run->library) : sentence("%s", "");
    char *disturbance = describe_disturbance(run);
    char *text = sentence("%s, %zu round%s%s%s%s%s%s", run->matrix, run->rounds,
                          run->rounds == 1 ? "" : "s", started, library,
                          run->ended && !run->interrupted ? "" : "; it did not come to its end",
                          disturbance ? "; " : "", disturbance ? disturbance : "");
    free(disturbance);
    free(library);
    free(started);
    return text;
}

/* The name with a star where the strategy stands. */
char *describe_block(const struct cell *cell) {
    const char *slash = strchr(cell->name, '/');
    size_t length = strlen(cell->axes.strategy);
    if (!slash || strncmp(slash + 1, cell->axes.strategy, length))
        return must(strdup(cell->name));
    return sentence("%.*s/*%s", (int)(slash - cell->name), cell->name, slash + 1 + length);
}

char *describe_columns(const struct comparison *comparison) {
    return sentence("\"%s\" in multiples of the floor (± the 95 %% interval of the median over "
                    "rounds) and in time. B against A%s; p after Holm over %zu cell%s",
                    figure_names[comparison->question.figure],
                    comparison->is_paired ? ", paired by round" : "", comparison->count,
                    comparison->count == 1 ? "" : "s");
}

char *describe_tally(const struct comparison *comparison) {
    const size_t *count = comparison->count_of;
    char *beyond = comparison->question.gated ? sentence("; %zu beyond %s", comparison->beyond,
                                                         label_limit(comparison).text)
                                              : sentence("%s", "");
    char *text = sentence("%zu faster, %zu slower, %zu not told apart, %zu inconclusive%s",
                          count[FASTER], count[SLOWER], count[SAME], count[INCONCLUSIVE], beyond);
    free(beyond);
    return text;
}

char *describe_few(const struct comparison *comparison) {
    return comparison->few
               ? sentence("%zu inconclusive: fewer than %d rounds a side, or too few to tell one "
                          "of %zu cell%s from chance; more rounds or a --filter help",
                          comparison->few, ROUNDS_TO_RELY_ON, comparison->count,
                          comparison->count == 1 ? "" : "s")
               : NULL;
}

char *describe_doubt(const struct comparison *comparison) {
    size_t doubts = comparison->count_of[INCONCLUSIVE] - comparison->few;
    return doubts > 0
               ? sentence("%zu inconclusive: slower by more than %s is neither told nor ruled out",
                          doubts, label_limit(comparison).text)
               : NULL;
}
