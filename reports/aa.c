#include "comparison.h"
#include "floor.h"
#include "judge.h"
#include "layout.h"
#include "memory.h"
#include "program.h"
#include "units.h"
#include "unlike.h"

#include <argp.h>
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Runs of one and the same program in pairs: how many cells differ all the same. What is compared
 * is a cell's call in multiples of its floor's, so that what slows a whole block does not count.
 */

static const double MOST_APART = 0.02;
enum { PAIRS = 10, MOST_ALARMS = 2 }; /* so many in so many pairs, begun ones too */

const char *argp_program_version = "aa " FORKLESS_VERSION;

struct runs {
    size_t count;
    struct run **list;
};

struct tally {
    size_t cells;
    size_t apart;
    size_t left_out; /* they have a floor, but fewer than six rounds measured both */
    size_t pairs;
    size_t alarms; /* pairs of which forkless-compare would call a cell changed */
};

static bool are_apart(struct interval a, struct interval b) {
    return a.high < b.low || b.high < a.low;
}

static void print_interval(struct interval interval, FILE *text) {
    fprintf(text, "%s to %s", label_rate(interval.low).text, label_rate(interval.high).text);
}

static struct tally compare(const struct run *a, const struct run *b, FILE *cells) {
    struct tally tally = {0};
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *cell = &a->cells[i];
        if (!find_floor(a, cell))
            continue;
        struct estimate first = estimate_multiple(a, cell, CALL);
        struct estimate second = estimate_multiple(b, run_cell(b, cell->name), CALL);
        if (first.rounds < ROUNDS_TO_RELY_ON || second.rounds < ROUNDS_TO_RELY_ON) {
            tally.left_out++;
            continue;
        }
        tally.cells++;
        if (!are_apart(first.ci, second.ci))
            continue;
        fprintf(cells, "%s %s ", tally.apart++ ? "," : ":", cell->name);
        print_interval(first.ci, cells);
        fputs(" against ", cells);
        print_interval(second.ci, cells);
    }
    return tally;
}

/* Whether forkless-compare would call any cell changed. */
static bool raises_alarm(const struct run *a, const struct run *b) {
    struct comparison comparison;
    comparison_open(&comparison, a, b, &(struct question){.figure = CALL});
    size_t changed = comparison.count_of[FASTER] + comparison.count_of[SLOWER];
    comparison_close(&comparison);
    return changed > 0;
}

static struct tally print_pair(size_t pair, const struct run *a, const struct run *b) {
    char *cells = NULL;
    size_t length;
    FILE *text = must(open_memstream(&cells, &length));
    struct tally tally = compare(a, b, text);
    tally.pairs = 1;
    tally.alarms = raises_alarm(a, b);
    fclose(text);
    must(cells);
    print_named(
        stdout, "",
        sentence("pair %zu: %zu of %zu cells apart%s", pair, tally.apart, tally.cells, cells));
    free(cells);
    return tally;
}

static bool same_cells(const struct run *a, const struct run *b) {
    if (a->cell_count != b->cell_count)
        return false;
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *cell = run_cell(b, a->cells[i].name);
        if (!cell || !same_axes(&a->cells[i].axes, &cell->axes))
            return false;
    }
    return true;
}

/* Why two runs cannot be compared; NULL when they can. */
static const char *unlike(const struct run *a, const struct run *b) {
    char *hosts = unlike_hosts(a, b);
    bool other_build = a->library && b->library && strcmp(a->library, b->library) != 0;
    const char *what = hosts               ? "hosts"
                       : other_build       ? "builds"
                       : !same_cells(a, b) ? "cells"
                                           : NULL;
    free(hosts);
    return what;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct runs *runs = state->input;
    char *error;
    switch (key) {
    case ARGP_KEY_ARG:
        runs->list = must(reallocarray(runs->list, runs->count + 1, sizeof(struct run *)));
        runs->list[runs->count] = read_judged(argument, &error);
        if (!runs->list[runs->count++])
            errx(USAGE, "%s", error);
        return 0;
    case ARGP_KEY_END:
        if (runs->count == 0 || runs->count % 2)
            argp_error(state, "runs come in pairs");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int judge(struct tally tally) {
    if (tally.cells == 0) {
        printf("no cell has a multiple of its floor in six rounds of both runs\n");
        return UNCLEAR;
    }
    double share = (double)tally.apart / (double)tally.cells;
    bool within = share <= MOST_APART;
    if (tally.left_out > 0)
        printf("%zu cells left out: they, or their floors, were not measured\n", tally.left_out);
    size_t most = MOST_ALARMS * ((tally.pairs + PAIRS - 1) / PAIRS);
    bool calm = tally.alarms <= most;
    printf("%zu of %zu cells apart: %.1f %%, %s %.0f %%\n", tally.apart, tally.cells, share * 100,
           within ? "within" : "beyond", MOST_APART * 100);
    printf("%zu of %zu pair%s raise an alarm, %s %zu\n", tally.alarms, tally.pairs,
           tally.pairs == 1 ? "" : "s", calm ? "within" : "beyond", most);
    return !within || !calm ? SAID_NO : tally.left_out ? UNCLEAR : GOOD;
}

static int compare_all(const struct runs *runs) {
    struct tally all = {0};
    for (size_t i = 1; i < runs->count; i++) {
        const char *what = unlike(runs->list[0], runs->list[i]);
        if (what) {
            warnx("%s and %s are of unlike %s", runs->list[0]->path, runs->list[i]->path, what);
            return USAGE;
        }
    }
    for (size_t i = 0; i < runs->count; i += 2) {
        struct tally pair = print_pair(i / 2 + 1, runs->list[i], runs->list[i + 1]);
        all.cells += pair.cells;
        all.apart += pair.apart;
        all.left_out += pair.left_out;
        all.pairs += pair.pairs;
        all.alarms += pair.alarms;
    }
    return judge(all);
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        .parser = parse_option,
        .args_doc = "A B [A B...]",
        .doc = "Counts the cells of two runs of one program on one host whose 95 % intervals of "
               "`call`, in multiples of the floor, are disjoint, and the alarms: pairs "
               "of which forkless-compare would call a cell changed."
               "\vExit status: 0 at most 2 % are, and 2 alarms in 10 pairs, 1 internal, 2 usage or "
               "a bad file, 5 more are, 6 "
               "there is nothing to compare, or cells are left out."};
    struct runs runs = {0};
    argp_err_exit_status = USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &runs);
    int status = compare_all(&runs);
    for (size_t i = 0; i < runs.count; i++)
        run_free(runs.list[i]);
    free(runs.list);
    return finish_output("counts", status);
}
