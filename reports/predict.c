#include "predict.h"

#include "analysis.h"
#include "disturbance.h"
#include "layout.h"
#include "memory.h"
#include "units.h"
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *const strategies[] = {"fork", "posix_spawn", "forkless_spawn", "forkless_start"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

struct prediction {
    const struct run *run;
    int64_t bytes;
    char *target;
    struct estimate calls[STRATEGIES]; /* of no rounds: the run has no line */
};

static struct axes axes_of(const struct prediction *prediction, size_t strategy, int64_t rss) {
    return (struct axes){.strategy = strategies[strategy],
                         .rss = rss,
                         .gap = DEFAULT_GAP,
                         .at_once = 1,
                         PLAIN,
                         .target = prediction->target};
}

static struct estimate call_at(const struct prediction *prediction, size_t strategy, int64_t rss) {
    return estimate_at(prediction->run, axes_of(prediction, strategy, 0), CALL, rss);
}

/* The default target, or the only one; NULL when that cannot be told. */
static char *choose_target(const struct run *run) {
    size_t count;
    char **targets = find_targets(run, &count);
    bool told = count == 1 || (count > 1 && !strcmp(targets[0], DEFAULT_TARGET));
    char *target = told ? targets[0] : NULL;
    free(targets);
    return target;
}

static void print_call(const char *strategy, const struct estimate *call, FILE *out) {
    if (call->rounds < 2) {
        fprintf(out, "%-18s%12s      1 round: no interval\n", strategy,
                label_time(call->value, unit_for(call->value)).text);
        return;
    }
    enum unit unit = unit_for(fmax(call->value, call->ci.high));
    fprintf(out, "%-18s%12s      %s to %s\n", strategy, label_time(call->value, unit).text,
            label_number(call->ci.low, unit).text, label_time(call->ci.high, unit).text);
}

/* The largest size at which this strategy was measured. */
static int64_t reach_of(const struct prediction *prediction, size_t strategy) {
    return estimate_growth(prediction->run, axes_of(prediction, strategy, 0), CALL).reach;
}

static void say_beyond(const struct prediction *prediction, FILE *out) {
    int64_t reach = INT64_MAX;
    for (size_t i = 0; i < STRATEGIES; i++)
        if (prediction->calls[i].rounds > 0 && reach_of(prediction, i) < reach)
            reach = reach_of(prediction, i);
    if (prediction->bytes > reach)
        print_named(out, "",
                    sentence("beyond the %s that were measured: only growth that can be "
                             "told is drawn on",
                             label_size(reach).text));
}

static void say_doubts(const struct prediction *prediction, FILE *out) {
    size_t rounds = prediction->calls[0].rounds;
    if (rounds < ROUNDS_TO_RELY_ON)
        print_named(out, "",
                    sentence("only %zu round%s: too few for an interval to rely on", rounds,
                             rounds == 1 ? "" : "s"));
    char *disturbance = describe_disturbance(prediction->run);
    if (disturbance)
        print_named(out, "", disturbance);
}

bool predict_print(const struct run *run, int64_t bytes, FILE *out, char **error) {
    struct prediction prediction = {.run = run, .bytes = bytes, .target = choose_target(run)};
    if (!prediction.target) {
        *error = sentence("%s: cannot predict: there is no target %s, and not one alone", run->path,
                          DEFAULT_TARGET);
        return false;
    }
    for (size_t i = 0; i < STRATEGIES; i++)
        prediction.calls[i] = call_at(&prediction, i, bytes);
    if (prediction.calls[0].rounds == 0) {
        *error = sentence("%s: cannot predict: no round has fork, paced, one at a time and without "
                          "further axes, with parents of two sizes",
                          run->path);
        return false;
    }
    fputs("one child holds its caller for      95 % interval\n", out);
    for (size_t i = 0; i < STRATEGIES; i++)
        if (prediction.calls[i].rounds > 0)
            print_call(strategies[i], &prediction.calls[i], out);
    say_beyond(&prediction, out);
    say_doubts(&prediction, out);
    return true;
}
