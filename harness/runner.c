#include "runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allowed.h"
#include "choose.h"
#include "clock.h"
#include "columns.h"
#include "disturbance.h"
#include "host.h"
#include "phases.h"
#include "plan.h"
#include "progress.h"
#include "random.h"
#include "run_line.h"
#include "supervise.h"

/* What a block may map beside its ballast: libraries, stacks, samples. */
static const uint64_t ADDRESS_SPACE = UINT64_C(1) << 30;

/* After an error nothing is appended: a torn line may only be the last. */
static void append(struct run *run, json_t *line) {
    if (run->code == 0)
        run->code = record_append(run->record, line);
    else
        json_decref(line);
}

/* The cells of one ballast in one round, by their number in the block. */
struct block {
    struct run *run;
    unsigned round, position;
    const struct cell *like; /* of its ballast */
    uint64_t seed;
    size_t count;
    const struct cell **cells;
};

static json_t *cell_line(const struct block *b, const struct cell *cell, const char *state) {
    b->run->failed += strcmp(state, "measured") != 0 && strcmp(state, "unsupported") != 0;
    return json_pack("{s:s,s:i,s:s,s:s}", "kind", "cell", "round", (int)b->round, "cell",
                     cell->name, "state", state);
}

/* Takes over what the block said of this cell. */
static void keep_cell(struct block *b, size_t i, json_t *said, const json_t *traced) {
    const char *state = json_string_value(json_object_get(said, "state"));
    json_t *line = cell_line(b, b->cells[i], state);
    if (json_object_get(said, "reason"))
        json_object_set(line, "reason", json_object_get(said, "reason"));
    for (size_t c = 0; c < column_count; c++)
        if (json_object_get(said, columns[c].name))
            json_object_set(line, columns[c].name, json_object_get(said, columns[c].name));
    json_t *phases = phases_of_cell(traced, said, b->cells[i]->strategy->elsewhere);
    if (phases)
        json_object_set_new(line, "phases", phases);
    append(b->run, line);
}

static void give_up_cell(struct block *b, const struct cell *cell, const char *state,
                         const char *reason) {
    json_t *line = cell_line(b, cell, state);
    json_object_set_new(line, "reason", json_string(reason));
    append(b->run, line);
}

/* In the order in which they were done, then the others. */
static void keep_cells(struct block *b, const struct supervision *s) {
    bool kept[b->count + 1];
    size_t n;
    json_t *said;
    memset(kept, 0, sizeof kept);
    json_array_foreach(s->cells, n, said) {
        json_int_t i = json_integer_value(json_object_get(said, "cell"));
        if (!s->verified || i < 0 || (size_t)i >= b->count || kept[i] ||
            !json_object_get(said, "state"))
            continue;
        keep_cell(b, (size_t)i, said, s->traced);
        kept[i] = true;
    }
    for (size_t i = 0; i < b->count && !s->interrupted; i++)
        if (!kept[i])
            give_up_cell(b, b->cells[i], s->state ? s->state : "failed",
                         s->state ? s->reason : "the block did not speak of it");
}

static json_t *axes_of(const struct cell *cell) {
    json_t *said = json_object();
    char text[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < axis_count; i++) {
        if (&axes[i] == axis_find("target") || axis_is_default(&axes[i], cell))
            continue;
        axis_print(&axes[i], cell, text);
        json_object_set_new(said, axes[i].name, json_string(text));
    }
    return said;
}

static json_t *order_of(struct block *b) {
    json_t *cells = json_array();
    for (size_t i = 0; i < b->count; i++) {
        const struct cell *c = b->cells[i];
        char target[PATH_SIZE];
        target_path(c, target, sizeof target);
        json_array_append_new(cells, json_pack("{s:o,s:i,s:i,s:s,s:b}", "axes", axes_of(c),
                                               "samples", (int)c->samples, "discards",
                                               (int)c->discards, "target", target, "stamps",
                                               c->commands == 1 && target_stamps(c->target)));
    }
    return json_pack("{s:I,s:I,s:o}", "budget", (json_int_t)(b->like->ballast.rss + ADDRESS_SPACE),
                     "seed", (json_int_t)b->seed, "cells", cells);
}

static json_t *block_line(const struct block *b, const struct supervision *s, double seconds,
                          double load, const struct disturbance *d) {
    json_t *line = json_pack(
        "{s:s,s:i,s:i,s:I,s:f,s:f,s:f,s:f,s:I,s:I}", "kind", "block", "round", (int)b->round,
        "position", (int)b->position, "resident", (json_int_t)s->resident, "seconds", seconds,
        "steal", d->steal, "load", load, "other", d->other, "voluntary_switches",
        (json_int_t)d->voluntary, "involuntary_switches", (json_int_t)d->involuntary);
    ballast_set(line, b->like);
    json_int_t lost = phases_count_lost(s->traced);
    if (lost >= 0)
        json_object_set_new(line, "lost", json_integer(lost));
    if (d->says[0])
        json_object_set_new(line, "disturbed", json_string(d->says));
    return line;
}

static void supervise_block(struct block *b) {
    struct run *run = b->run;
    struct supervision s = {
        .order = order_of(b),
        .ballast = b->like->ballast,
        .deadline_s = run->deadline_s ? run->deadline_s : plan_deadline(run->matrix, b->like),
        .signals = run->signals,
    };
    int64_t began = now_ns();
    double load = load_average();
    struct activity before = activity_now();
    supervise(&s);
    struct activity after = activity_now();
    struct disturbance d = disturbance_between(&before, &after);
    json_decref(s.order);
    run->interrupted = s.interrupted;
    /* Before its cells: none is ever without the block that it was measured in. */
    append(run, block_line(b, &s, (double)(now_ns() - began) / 1e9, load, &d));
    keep_cells(b, &s);
    json_decref(s.cells);
    json_decref(s.traced);
}

static void run_block(struct block *b) {
    char why[WHY_SIZE];
    if (plan_fits(b->run->matrix, b->like, why, sizeof why)) {
        if (b->count > 0)
            supervise_block(b);
        return;
    }
    for (size_t i = 0; i < b->count; i++)
        give_up_cell(b, b->cells[i], "unsupported", why);
}

/* Measured before, or not to be in this round. */
static bool is_done(const struct run *run, unsigned round, size_t cell) {
    if (!cell_is_in(&run->matrix->cells[cell], round))
        return true;
    return run->done && run->done[round * run->matrix->count + cell];
}

/* Whether any cell of a ballast is still to be measured in a round. */
static bool is_open(const struct run *run, unsigned round, const struct cell *like) {
    for (size_t i = 0; i < run->matrix->count; i++)
        if (same_ballast(&run->matrix->cells[i], like) && !is_done(run, round, i))
            return true;
    return false;
}

static void run_ballast(struct run *run, unsigned round, unsigned position, const struct cell *like,
                        uint64_t seed) {
    const struct matrix *m = run->matrix;
    struct block b = {.run = run, .round = round, .position = position, .like = like, .seed = seed};
    b.cells = calloc(m->count, sizeof *b.cells);
    if (!b.cells) {
        run->code = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < m->count; i++) {
        char why[WHY_SIZE];
        if (!same_ballast(&m->cells[i], like) || is_done(run, round, i))
            continue;
        if (cell_allowed(&m->cells[i], why, sizeof why))
            b.cells[b.count++] = &m->cells[i];
        else
            give_up_cell(&b, &m->cells[i], "unsupported", why);
    }
    run_block(&b);
    free(b.cells);
}

static unsigned count_open(const struct run *run, const struct cell *const *firsts,
                           size_t ballasts) {
    unsigned count = 0;
    for (unsigned round = 0; round < run->rounds; round++)
        for (size_t i = 0; i < ballasts; i++)
            count += is_open(run, round, firsts[i]);
    return count;
}

/* Every ballast once a round, in an order of the round's own. What was done before draws its random
 * numbers all the same, so that a run that goes on has the orders of one that was never broken off.
 */
static void run_rounds(struct run *run, const struct cell *const *firsts, size_t *order,
                       size_t ballasts) {
    unsigned total = count_open(run, firsts, ballasts), done = 0;
    int64_t began = now_ns();
    uint64_t random = run->seed;
    for (size_t i = 0; i < ballasts; i++)
        order[i] = i;
    for (unsigned round = 0; round < run->rounds; round++) {
        random_shuffle(&random, order, ballasts);
        for (unsigned i = 0; i < ballasts; i++) {
            uint64_t seed = random_next(&random);
            if (!is_open(run, round, firsts[order[i]]))
                continue;
            progress_bar(done++, total, (double)(now_ns() - began) / 1e9);
            run_ballast(run, round, i, firsts[order[i]], seed);
            if (run->interrupted || run->code < 0)
                return;
        }
    }
}

int runner_run(struct run *run) {
    int64_t began = now_ns();
    const struct cell **firsts = calloc(run->matrix->count, sizeof *firsts);
    size_t *order = calloc(run->matrix->count, sizeof *order);
    append(run, run->done ? resume_line_make(run->rounds)
                          : run_line_make(run->matrix, run->rounds, run->seed));
    if (!firsts || !order)
        run->code = -ENOMEM;
    if (run->code == 0)
        run_rounds(run, firsts, order, matrix_ballasts(run->matrix, firsts));
    free(firsts);
    free(order);
    progress_bar(0, 0, 0);
    if (run->code == 0)
        append(run, json_pack("{s:s,s:b,s:f}", "kind", "end", "interrupted", run->interrupted,
                              "seconds", (double)(now_ns() - began) / 1e9));
    return run->code;
}
