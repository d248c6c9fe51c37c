#include "verdict.h"

#include "analysis.h"
#include "memory.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "(CI -5 to 7)", or why there is none. */
static char *describe_interval(const struct estimate *estimate, const char *name, enum unit unit) {
    if (estimate->rounds < 2)
        return sentence("(1 round: no interval)");
    return sentence("(%s %s to %s)", name, label_number(estimate->ci.low, unit).text,
                    label_number(estimate->ci.high, unit).text);
}

static struct growth growth_of(const struct view *view, char *strategy) {
    struct axes axes = {
        .strategy = strategy, .gap = view->gap, .at_once = 1, PLAIN, .target = view->target};
    return estimate_growth(view->run, axes, CALL);
}

/* Not with one round, nor from sizes that a GiB is far beyond. */
static bool is_worth_saying(const struct growth *growth) {
    return growth->slope.rounds > 1 && growth->reach >= 256LL << 20;
}

/* False when fork's growth cannot be told. */
static bool say_fork(const struct view *view, FILE *text) {
    struct growth growth = growth_of(view, "fork");
    if (!is_worth_saying(&growth))
        return false;
    enum unit unit = unit_for(fabs(growth.slope.value));
    char *interval = describe_interval(&growth.slope, "95% CI", unit);
    fprintf(text, "fork costs its caller %s for each GiB of memory here %s.",
            label_time(growth.slope.value, unit).text, interval);
    free(interval);
    return true;
}

/* The strategies whose difference from the least is within what the rounds can tell. */
static void say_ties(const struct view *view, const struct cell *least, FILE *text) {
    size_t ties = 0;
    for (size_t i = 1; i < view->ranked; i++) {
        const struct cell *other = view_cell(view, view->rows[i].strategy, view->largest);
        if (!other || isnan(view->rows[i].call))
            continue;
        struct estimate difference = estimate_difference(view->run, other, least, CALL);
        if (difference.rounds > 1 && difference.ci.low > 0)
            continue;
        fprintf(text, "%s%s", ties++ ? ", " : "; not told apart from it: ", view->rows[i].strategy);
    }
}

static void say_least(const struct view *view, const struct cell *least, bool fork_said,
                      FILE *text) {
    struct growth growth = growth_of(view, view->rows[0].strategy);
    struct estimate call = estimate_figure(view->run, least, CALL);
    enum unit unit = unit_for(call.value);
    bool compared = view->ranked > 1 && !isnan(view->rows[1].call) && call.rounds > 1;
    fprintf(text, " %s holds %s%s: %s %s", view->rows[0].strategy, fork_said ? "it" : "its caller",
            compared ? " least" : "", label_time(call.value, unit).text,
            label_at(view->largest).text);
    bool grows = is_worth_saying(&growth);
    if (grows) {
        unit = unit_for(fabs(growth.slope.value));
        fprintf(text, ", %s per GiB", label_time(growth.slope.value, unit).text);
    }
    char *interval = describe_interval(grows ? &growth.slope : &call, "CI", unit);
    fprintf(text, " %s", interval);
    free(interval);
    if (compared)
        say_ties(view, least, text);
    fputc('.', text);
}

static bool say_ready(const struct view *view, const struct cell *least, FILE *text) {
    const struct cell *vfork = view_cell(view, "vfork", view->largest);
    if (!vfork || vfork == least)
        return false;
    struct estimate later = estimate_difference(view->run, least, vfork, READY);
    if (later.rounds == 0)
        return false;
    if (later.rounds == 1) {
        fprintf(text, " 1 round cannot tell whether the child is ready sooner than with vfork");
    } else if (later.ci.low <= 0 && later.ci.high >= 0) {
        enum unit unit = unit_for(fmax(fabs(later.ci.low), fabs(later.ci.high)));
        fprintf(text,
                " When the child is ready is not told apart from vfork (CI of the difference %s "
                "to %s)",
                label_number(later.ci.low, unit).text, label_time(later.ci.high, unit).text);
    } else {
        double size = fabs(later.value), near = fabs(later.ci.low), far = fabs(later.ci.high);
        enum unit unit = unit_for(size);
        fprintf(text, " The child is ready %s %s than with vfork (CI %s to %s)",
                label_time(size, unit).text, later.value < 0 ? "sooner" : "later",
                label_number(fmin(near, far), unit).text, label_number(fmax(near, far), unit).text);
    }
    return true;
}

static void say_bursts(const struct view *view, bool begun, FILE *text) {
    const char *before = begun ? ", and" : "", *what = " hold the caller";
    for (size_t i = 0; i < view->burst_count; i++) {
        const struct burst *burst = &view->bursts[i];
        struct axes axes = {.strategy = view->rows[0].strategy,
                            .rss = burst->rss,
                            .gap = burst->gap,
                            .at_once = burst->at_once,
                            PLAIN,
                            .target = view->target};
        double held = median(view->run, find_cell(view->run, axes), CALL);
        if (isnan(held))
            continue;
        fprintf(text, "%s %jd at once%s %s", before, (intmax_t)burst->at_once, what,
                label_time(held, unit_for(held)).text);
        begun = true;
        before = ",";
        what = "";
    }
    if (begun)
        fputc('.', text);
}

char *describe_verdict(const struct view *view) {
    if (view->ranked == 0 || isnan(view->rows[0].call))
        return NULL;
    char *verdict = NULL;
    size_t length;
    FILE *text = must(open_memstream(&verdict, &length));
    const struct cell *least = view_cell(view, view->rows[0].strategy, view->largest);
    bool fork_said = say_fork(view, text);
    say_least(view, least, fork_said, text);
    bool ready_said = say_ready(view, least, text);
    say_bursts(view, ready_said, text);
    fclose(text);
    must(verdict);
    memmove(verdict, verdict + strspn(verdict, " "), strlen(verdict + strspn(verdict, " ")) + 1);
    return verdict;
}
