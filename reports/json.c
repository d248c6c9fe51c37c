#include "json.h"

#include "disturbance.h"
#include "figures.h"
#include "floor.h"
#include "memory.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, DIGITS = 9 };

static void set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, must(value)))
        must(NULL);
}

static void append(json_t *list, json_t *value) {
    if (json_array_append_new(list, must(value)))
        must(NULL);
}

static void set_text(json_t *object, const char *key, const char *text) {
    if (text)
        set(object, key, json_string(text));
}

static void set_whole(json_t *object, const char *key, int64_t whole) {
    set(object, key, json_integer(whole));
}

static void set_count(json_t *object, const char *key, size_t count) {
    set_whole(object, key, (int64_t)count);
}

static void set_real(json_t *object, const char *key, double real) {
    if (isfinite(real))
        set(object, key, json_real(real));
}

/* As NAME_UNIT, NAME_low_UNIT and NAME_high_UNIT; without a unit as NAME, NAME_low, NAME_high. */
static void set_estimate(json_t *object, const char *name, const char *unit,
                         struct estimate estimate) {
    const char *const ends[] = {"", "_low", "_high"};
    const double values[] = {estimate.value, estimate.ci.low, estimate.ci.high};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *key = sentence("%s%s%s", name, ends[i], unit);
        set_real(object, key, values[i]);
        free(key);
    }
}

/* Each further axis as a text: "pages": "thp". */
static void set_more(json_t *object, const struct axes *axes) {
    char *copy = must(strdup(axes->more)), *rest = copy;
    for (char *part; *copy && (part = strsep(&rest, "/"));) {
        char *value = strchr(part, ':');
        *value++ = '\0';
        set_text(object, part, value);
    }
    free(copy);
}

static void set_axes_but_rss(json_t *object, const struct axes *axes) {
    set_text(object, "strategy", axes->strategy);
    set_whole(object, "gap_ns", axes->gap);
    set_whole(object, "at_once", axes->at_once);
    set_whole(object, "fds", axes->fds);
    set_whole(object, "spawners", axes->spawners);
    set_text(object, "attributes", axes->attributes);
    set_text(object, "target", axes->target);
    set_more(object, axes);
}

static json_t *describe_host(const struct host *host) {
    json_t *object = must(json_object());
    set_text(object, "cpu", host->cpu);
    set_whole(object, "cpus", host->cpus);
    set(object, "virtual", json_boolean(host->is_virtual));
    set_text(object, "hypervisor", host->hypervisor);
    set_text(object, "kernel", host->kernel);
    set_text(object, "libc", host->libc);
    set_whole(object, "page_size_bytes", host->page_size);
    return object;
}

static json_t *describe_run(const struct run *run) {
    json_t *object = must(json_object());
    set_text(object, "matrix", run->matrix);
    if (run->seed >= 0)
        set_whole(object, "seed", run->seed);
    set_count(object, "rounds", run->rounds);
    set_text(object, "started", run->started);
    set_text(object, "version", run->version);
    set_text(object, "library", run->library);
    set(object, "host", describe_host(&run->host));
    set_count(object, "resumed", run->resumed);
    set(object, "ended", json_boolean(run->ended));
    set(object, "interrupted", json_boolean(run->interrupted));
    for (enum state state = NOT_RUN; state < STATES; state++) {
        size_t count = count_state(run, state);
        const char *key = state == NOT_RUN ? "not_run" : state_names[state];
        set_count(object, key, count);
    }
    return object;
}

static json_t *describe_noise(const struct run *run) {
    struct noise heard = noise(run);
    json_t *object = must(json_object()), *disturbed = must(json_array());
    set_count(object, "blocks", run->block_count);
    if (heard.known) {
        set(object, "high", json_boolean(heard.high));
        set_real(object, "steal", heard.steal);
        set_real(object, "other", heard.other);
        set_real(object, "load", heard.load);
    }
    for (size_t i = 0; i < run->block_count; i++) {
        const struct block *block = &run->blocks[i];
        if (!block->disturbed)
            continue;
        json_t *entry = must(json_object());
        set_count(entry, "round", block->round);
        set_whole(entry, "rss_bytes", block->rss);
        set_text(entry, "ballast", block->ballast);
        set_text(entry, "reason", block->disturbed);
        append(disturbed, entry);
    }
    set(object, "disturbed", disturbed);
    return object;
}

static json_t *list_warnings(const struct run *run) {
    size_t count;
    const struct finding **warnings = find_warnings(run, &count);
    json_t *list = must(json_array());
    for (size_t i = 0; i < count; i++)
        append(list,
               json_pack("{s:s,s:s}", "name", warnings[i]->name, "found", warnings[i]->found));
    free(warnings);
    return list;
}

static bool same_problem(const struct measurement *a, const struct measurement *b) {
    return a->state == b->state && !strcmp(a->reason, b->reason);
}

static bool is_problem(const struct measurement *measurement) {
    return measurement->state != NOT_RUN && measurement->state != MEASURED;
}

/* Each state and reason once, with the rounds that met it. */
static json_t *list_problems(const struct run *run, const struct cell *cell) {
    json_t *list = must(json_array());
    for (size_t round = 0; round < run->rounds; round++) {
        const struct measurement *problem = &cell->rounds[round];
        size_t first = 0, count = 0;
        if (!is_problem(problem))
            continue;
        while (!is_problem(&cell->rounds[first]) || !same_problem(&cell->rounds[first], problem))
            first++;
        if (first < round)
            continue;
        for (size_t i = round; i < run->rounds; i++)
            count += is_problem(&cell->rounds[i]) && same_problem(&cell->rounds[i], problem);
        json_t *entry = must(json_object());
        set_text(entry, "state", state_names[problem->state]);
        set_text(entry, "reason", problem->reason);
        set_count(entry, "rounds", count);
        append(list, entry);
    }
    return list;
}

static void set_tails(json_t *object, const struct run *run, const struct cell *cell,
                      enum figure figure) {
    static const struct {
        const char *name;
        double p;
    } tails[] = {{"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};
    size_t count = count_samples(run, cell, figure);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (tails[i].p == 1 || enough_for(count, tails[i].p)) {
            char *key = sentence("%s%s", tails[i].name, figure_suffix(figure));
            set_real(object, key, tail(run, cell, figure, tails[i].p).ns);
            free(key);
        }
}

static json_t *describe_figure(const struct run *run, size_t index, enum figure figure,
                               const struct estimate *medians) {
    const struct cell *cell = &run->cells[index];
    json_t *object = must(json_object());
    set_count(object, "rounds", medians[index].rounds);
    set_count(object, "samples", count_samples(run, cell, figure));
    set_estimate(object, "median", figure_suffix(figure), medians[index]);
    set_tails(object, run, cell, figure);
    if (figure == STALL && count_samples(run, cell, BASELINE) > 0) {
        set_estimate(object, "added", "_ns", estimate_within(run, cell, STALL, BASELINE));
        struct estimate end = estimate_percentile_within(run, cell, STALL, BASELINE, 0.99);
        if (enough_for(count_samples(run, cell, BASELINE), 0.99) && end.rounds > 0)
            set_estimate(object, "p99_added", "_ns", end);
    }
    if (figure ==
        BASELINE) /* its window is as long as the spawn's: neither more nor less is better */
        return object;
    size_t rank = rank_of(run, cell, figure);
    if (rank > 0)
        set_count(object, "rank", rank);
    if (find_floor(run, cell))
        set_estimate(object, "multiple", "", estimate_multiple(run, cell, figure));
    return object;
}

static json_t *describe_cell(const struct run *run, size_t index,
                             struct estimate *const medians[FIGURES]) {
    const struct cell *cell = &run->cells[index], *floor = find_floor(run, cell);
    json_t *object = must(json_object()), *figures = must(json_object());
    set_text(object, "name", cell->name);
    set_axes_but_rss(object, &cell->axes);
    set_whole(object, "rss_bytes", cell->axes.rss);
    set_text(object, "floor", floor ? floor->name : NULL);
    set_count(object, "measured", count_rounds(run, cell));
    set(object, "problems", list_problems(run, cell));
    for (enum figure figure = CALL; figure < FIGURES; figure++)
        if (medians[figure][index].rounds > 0)
            set(figures, figure_names[figure],
                describe_figure(run, index, figure, medians[figure]));
    set(object, "figures", figures);
    return object;
}

static json_t *list_cells(const struct run *run) {
    struct estimate *medians[FIGURES];
    for (enum figure figure = CALL; figure < FIGURES; figure++) {
        medians[figure] = must(malloc(run->cell_count * sizeof *medians[figure]));
        for (size_t i = 0; i < run->cell_count; i++)
            medians[figure][i] = estimate_figure(run, &run->cells[i], figure);
    }
    json_t *list = must(json_array());
    for (size_t i = 0; i < run->cell_count; i++)
        append(list, describe_cell(run, i, medians));
    for (enum figure figure = CALL; figure < FIGURES; figure++)
        free(medians[figure]);
    return list;
}

/* Whether no cell before it has the same axes but for its size. */
static bool is_first_size(const struct run *run, const struct cell *cell) {
    for (const struct cell *other = run->cells; other < cell; other++)
        if (same_but_rss(other, &cell->axes))
            return false;
    return !is_null(cell);
}

static void add_growth(json_t *list, const struct run *run, const struct cell *cell,
                       enum figure figure) {
    struct growth growth = estimate_growth(run, cell->axes, figure);
    if (growth.slope.rounds == 0)
        return;
    json_t *object = must(json_object());
    set_axes_but_rss(object, &cell->axes);
    set_text(object, "figure", figure_names[figure]);
    set_count(object, "rounds", growth.slope.rounds);
    set_estimate(object, "at_0", figure_suffix(figure), growth.intercept);
    set_estimate(object, "per_gib", figure_suffix(figure), growth.slope);
    set_estimate(object, "r_squared", "", growth.explained);
    set_whole(object, "reach_bytes", growth.reach);
    append(list, object);
}

static void add_crossing(json_t *list, const struct run *run, const struct cell *cell,
                         enum figure figure) {
    struct axes fork = cell->axes;
    fork.strategy = "fork";
    if (!strcmp(cell->axes.strategy, "fork"))
        return;
    struct estimate crossing = estimate_crossing(run, fork, cell->axes, figure);
    if (!isfinite(crossing.value))
        return;
    json_t *object = must(json_object());
    set_axes_but_rss(object, &cell->axes);
    set_text(object, "figure", figure_names[figure]);
    set_count(object, "rounds", crossing.rounds);
    set_estimate(object, "fork_dearer_from", "_bytes", crossing);
    append(list, object);
}

void write_json(const struct run *run, FILE *out) {
    json_t *object = must(json_object()), *growth = must(json_array()),
           *crossings = must(json_array());
    set_whole(object, "analysis", SCHEMA);
    set(object, "run", describe_run(run));
    set(object, "noise", describe_noise(run));
    set(object, "warnings", list_warnings(run));
    set(object, "cells", list_cells(run));
    for (size_t i = 0; i < run->cell_count; i++)
        for (enum figure figure = CALL; figure < FIGURES; figure++) {
            if (!is_first_size(run, &run->cells[i]))
                continue;
            add_growth(growth, run, &run->cells[i], figure);
            add_crossing(crossings, run, &run->cells[i], figure);
        }
    set(object, "growth", growth);
    set(object, "crossings", crossings);
    json_dumpf(object, out, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS));
    fputc('\n', out);
    json_decref(object);
}
