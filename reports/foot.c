#include "foot.h"

#include "analysis.h"
#include "describe.h"
#include "layout.h"
#include "memory.h"
#include "problems.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_floor(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_floor(&run->cells[i]))
            return true;
    return false;
}

static void print_null(const struct run *run, const struct cell *null, bool *explained, FILE *out) {
    struct tail end = tail(run, null, CALL, 0.99);
    if (isnan(end.ns)) {
        char *why = why_missing(run, null);
        print_named(out, "null    ", sentence("the harness itself: %s", why));
        free(why);
        explained[null - run->cells] = true;
        return;
    }
    print_named(out, "null    ",
                sentence("the harness itself: p50 %s, %s %s; never subtracted",
                         label_time(median(run, null, CALL), NS).text,
                         end.is_maximum ? "max" : "p99", label_time(end.ns, NS).text));
}

static void print_run(const struct run *run, FILE *out) {
    char *words = describe_counts(run);
    char *counts = sentence("(%s)", words);
    size_t width = strlen("run     ") + strlen(run->path);
    bool fits = width + 2 + strlen(counts) <= PAGE_WIDTH;
    fprintf(out, "run     %s%s", run->path, fits ? "  " : "\n        ");
    print_words(out, counts, 8, 8);
    free(counts);
    free(words);
}

static void print_problems(const struct run *run, const bool *explained, FILE *out) {
    size_t count;
    struct problem *problems = find_problems(run, explained, &count);
    for (size_t i = 0; i < count; i++) {
        const struct problem *problem = &problems[i];
        char *others = problem->cells == 1 ? sentence("%s", "")
                                           : sentence(" and %zu more", problem->cells - 1);
        print_named(out, "        ",
                    sentence("%zu %s: %s (%s%s)", problem->measurements,
                             state_names[problem->state], problem->reason, problem->first->name,
                             others));
        free(others);
    }
    free(problems);
}

void foot_print(const struct run *run, bool *explained, FILE *out) {
    fputc('\n', out);
    if (has_floor(run))
        print_named(
            out, "floor   ",
            sentence("the raw call with our flags and child, by hand: what the kernel takes"));
    const struct cell *null = find_null(run);
    if (null)
        print_null(run, null, explained, out);
    print_run(run, out);
    print_problems(run, explained, out);
}
