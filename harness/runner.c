#include "runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "host.h"
#include "memory.h"
#include "progress.h"
#include "random.h"
#include "supervise.h"

enum { SCHEMA = 1 };
#define GIB ((double)(UINT64_C(1) << 30))

/* What a block may map beside its ballast: libraries, stacks, samples. */
static const uint64_t ADDRESS_SPACE = UINT64_C(1) << 30;

/* After an error nothing is appended: a torn line may only be the last. */
static void append(struct run *run, json_t *line) {
    if (run->code == 0)
        run->code = record_append(run->record, line);
    else
        json_decref(line);
}

static json_t *plan_of(const struct matrix *m) {
    json_t *cells = json_array();
    for (size_t i = 0; i < m->count; i++) {
        const struct cell *c = &m->cells[i];
        const char *base = strrchr(c->target, '/');
        json_array_append_new(cells,
                              json_pack("{s:s,s:s,s:I,s:I,s:I,s:s}", "name", c->name, "strategy",
                                        c->strategy->name, "rss", (json_int_t)c->rss, "gap",
                                        (json_int_t)c->gap_ns, "at_once", (json_int_t)c->at_once,
                                        "target", base ? base + 1 : c->target));
    }
    return cells;
}

static void append_run_line(struct run *run) {
    char started[32];
    time_t now = time(NULL);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    append(run, json_pack("{s:s,s:i,s:s,s:I,s:i,s:s,s:o,s:o,s:o}", "kind", "run", "schema", SCHEMA,
                          "matrix", run->matrix->name, "seed", (json_int_t)run->seed, "rounds",
                          (int)run->rounds, "started", started, "host", host_describe(), "build",
                          build_describe(), "cells", plan_of(run->matrix)));
}

/* The cells of one ballast in one round, by their number in the block. */
struct block {
    struct run *run;
    unsigned round, position;
    uint64_t rss;
    size_t count;
    const struct cell **cells;
};

static json_t *cell_line(const struct block *b, size_t i, const char *state) {
    b->run->failed += strcmp(state, "measured") != 0 && strcmp(state, "unsupported") != 0;
    return json_pack("{s:s,s:i,s:s,s:s}", "kind", "cell", "round", (int)b->round, "cell",
                     b->cells[i]->name, "state", state);
}

/* Takes over what the block said of this cell. */
static void keep_cell(struct block *b, size_t i, json_t *said) {
    static const char *const columns[] = {"reason", "call", "ready", "total", "cpu"};
    const char *state = json_string_value(json_object_get(said, "state"));
    json_t *line = cell_line(b, i, state);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        if (json_object_get(said, columns[c]))
            json_object_set(line, columns[c], json_object_get(said, columns[c]));
    append(b->run, line);
}

static void give_up_cell(struct block *b, size_t i, const char *state, const char *reason) {
    json_t *line = cell_line(b, i, state);
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
        keep_cell(b, (size_t)i, said);
        kept[i] = true;
    }
    for (size_t i = 0; i < b->count && !s->interrupted; i++)
        if (!kept[i])
            give_up_cell(b, i, s->state ? s->state : "failed",
                         s->state ? s->reason : "the block did not speak of it");
}

static json_t *order_of(struct block *b) {
    json_t *cells = json_array();
    for (size_t i = 0; i < b->count; i++) {
        const struct cell *c = b->cells[i];
        json_array_append_new(
            cells, json_pack("{s:s,s:I,s:I,s:I,s:I}", "strategy", c->strategy->name, "gap",
                             (json_int_t)c->gap_ns, "at_once", (json_int_t)c->at_once, "samples",
                             (json_int_t)c->samples, "discards", (json_int_t)c->discards));
    }
    return json_pack("{s:I,s:I,s:I,s:s,s:b,s:o}", "rss", (json_int_t)b->rss, "budget",
                     (json_int_t)(b->rss + ADDRESS_SPACE), "seed",
                     (json_int_t)random_next(&b->run->random), "target", b->run->target_path,
                     "stamps", b->run->has_stamps, "cells", cells);
}

static void supervise_block(struct block *b) {
    struct run *run = b->run;
    struct supervision s = {
        .order = order_of(b),
        .deadline_s = run->deadline_s,
        .signals = run->signals,
    };
    int64_t began = now_ns();
    double load = load_average();
    struct cpu_time before = cpu_time_read();
    supervise(&s);
    double steal = cpu_time_steal(before, cpu_time_read());
    json_decref(s.order);
    run->interrupted = s.interrupted;
    keep_cells(b, &s);
    json_decref(s.cells);
    append(run, json_pack("{s:s,s:i,s:i,s:I,s:I,s:f,s:f,s:f}", "kind", "block", "round",
                          (int)b->round, "position", (int)b->position, "rss", (json_int_t)b->rss,
                          "resident", (json_int_t)s.resident, "seconds",
                          (double)(now_ns() - began) / 1e9, "steal", steal, "load", load));
}

static void run_block(struct block *b) {
    uint64_t need = block_memory(b->rss), there = memory_available();
    if (need <= there) {
        supervise_block(b);
        return;
    }
    char reason[128];
    snprintf(reason, sizeof reason, "needs %.1f GiB of memory, %.1f GiB are available",
             (double)need / GIB, (double)there / GIB);
    for (size_t i = 0; i < b->count; i++)
        give_up_cell(b, i, "unsupported", reason);
}

static void run_ballast(struct run *run, unsigned round, unsigned position, uint64_t rss) {
    const struct matrix *m = run->matrix;
    struct block b = {.run = run, .round = round, .position = position, .rss = rss};
    b.cells = calloc(m->count, sizeof *b.cells);
    if (b.cells) {
        for (size_t i = 0; i < m->count; i++)
            if (m->cells[i].rss == rss)
                b.cells[b.count++] = &m->cells[i];
        run_block(&b);
    } else {
        run->code = -ENOMEM;
    }
    free(b.cells);
}

/* Every ballast once a round, in an order of the round's own. */
static void run_rounds(struct run *run, const uint64_t *rss, size_t *order, size_t ballasts) {
    unsigned total = run->rounds * (unsigned)ballasts, done = 0;
    int64_t began = now_ns();
    for (size_t i = 0; i < ballasts; i++)
        order[i] = i;
    for (unsigned round = 0; round < run->rounds; round++) {
        random_shuffle(&run->random, order, ballasts);
        for (unsigned i = 0; i < ballasts; i++) {
            progress_bar(done++, total, (double)(now_ns() - began) / 1e9);
            run_ballast(run, round, i, rss[order[i]]);
            if (run->interrupted || run->code < 0)
                return;
        }
    }
}

int runner_run(struct run *run) {
    int64_t began = now_ns();
    run->random = run->seed;
    uint64_t *rss = calloc(run->matrix->count, sizeof *rss);
    size_t *order = calloc(run->matrix->count, sizeof *order);
    append_run_line(run);
    if (rss && order && run->code == 0)
        run_rounds(run, rss, order, matrix_ballasts(run->matrix, rss));
    free(rss);
    free(order);
    progress_bar(0, 0, 0);
    if (run->code == 0)
        append(run, json_pack("{s:s,s:b,s:f}", "kind", "end", "interrupted", run->interrupted,
                              "seconds", (double)(now_ns() - began) / 1e9));
    return run->code;
}
