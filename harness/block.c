#include "block.h"

#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "axes.h"
#include "ballast.h"
#include "chunk.h"
#include "columns.h"
#include "paths.h"
#include "random.h"

struct block {
    json_t *order;
    uint64_t random;
    struct measured *cells;
    size_t count;
    struct measuring measuring;
};

static void say(json_t *line) {
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text || dprintf(BLOCK_OUT, "%s\n", text) < 0)
        _exit(1); /* the runner is gone */
    free(text);
    json_decref(line);
}

static bool read_line(char **line) {
    size_t room = 0;
    *line = NULL;
    return getline(line, &room, stdin) > 0;
}

static void say_problem(const char *why, bool memory) {
    say(json_pack("{s:s,s:b}", "problem", why, "memory", memory));
}

/* One chunk of a cell; what was wrong with it is said. After what is wrong with the block nothing
 * that it has said counts. */
static void run_chunk(struct block *b, size_t index) {
    struct measured *m = &b->cells[index];
    struct turn *turn = &b->measuring.sampler.turn;
    chunk_take(&b->measuring, m);
    if (b->measuring.spoilt[0]) {
        say_problem(b->measuring.spoilt, false);
        _exit(1);
    }
    if (m->failed)
        say(json_pack("{s:I,s:s,s:s}", "cell", (json_int_t)index, "state",
                      turn->unsupported ? "unsupported" : "failed", "reason", turn->problem));
}

static json_t *column(const struct measured *m, size_t offset) {
    json_t *array = json_array();
    for (unsigned i = 0; i < m->taken; i++)
        json_array_append_new(array,
                              json_integer(*(int64_t *)(void *)((char *)&m->samples[i] + offset)));
    return array;
}

static void say_samples(struct block *b, size_t index) {
    const struct measured *m = &b->cells[index];
    json_t *line = json_pack("{s:I,s:s,s:o}", "cell", (json_int_t)index, "state", "measured",
                             "called", column(m, offsetof(struct sample, called)));
    for (size_t i = 0; i < column_count; i++)
        if (!columns[i].has || columns[i].has(&m->cell, m->has_stamps))
            json_object_set_new(line, columns[i].name, column(m, columns[i].offset));
    say(line);
}

/* Cells that are measured after each other, in turns. */
struct phase {
    bool threaded, copies;
    uint64_t load;
};

static bool is_open(const struct measured *m, const struct phase *phase) {
    return !m->failed && m->taken < m->cell.samples && m->cell.load == phase->load &&
           cell_has_threads(&m->cell) == phase->threaded &&
           m->cell.strategy->copies == phase->copies;
}

static size_t find_open(const struct block *b, const struct phase *phase, size_t *order) {
    size_t open = 0;
    for (size_t i = 0; i < b->count; i++)
        if (is_open(&b->cells[i], phase))
            order[open++] = i;
    return open;
}

static void run_phase(struct block *b, const struct phase *phase) {
    size_t order[b->count + 1], open;
    while ((open = find_open(b, phase, order)) > 0) {
        random_shuffle(&b->random, order, open);
        for (size_t i = 0; i < open; i++) {
            run_chunk(b, order[i]);
            const struct measured *m = &b->cells[order[i]];
            if (!m->failed && m->taken == m->cell.samples)
                say_samples(b, order[i]);
        }
    }
}

/* None of a phase can be measured. */
static void fail_phase(struct block *b, const struct phase *phase, int rc) {
    size_t order[b->count + 1], open = find_open(b, phase, order);
    char why[128];
    snprintf(why, sizeof why, "no busy loop could be started on each CPU: %s", strerror(-rc));
    for (size_t i = 0; i < open; i++) {
        b->cells[order[i]].failed = true;
        say(json_pack("{s:I,s:s,s:s}", "cell", (json_int_t)order[i], "state", "failed", "reason",
                      why));
    }
}

/* What copies memory comes last: it slows what comes after it. */
static void run_with_load(struct block *b, bool threaded, uint64_t load) {
    const struct phase plain = {threaded, false, load}, copying = {threaded, true, load};
    size_t order[b->count + 1];
    if (find_open(b, &plain, order) + find_open(b, &copying, order) == 0)
        return;
    int rc = hogs_start(&b->measuring.hogs, load);
    if (rc < 0) {
        fail_phase(b, &plain, rc);
        fail_phase(b, &copying, rc);
        return;
    }
    run_phase(b, &plain);
    run_phase(b, &copying);
    hogs_end(&b->measuring.hogs);
}

/* Every strategy hands descriptor 1 down as it is. A target that does not stamp may write what it
 * likes. */
static int open_stamps(struct block *b) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    b->measuring.sampler.stamps = ends[0];
    b->measuring.to_stamps = ends[1];
    b->measuring.to_nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return b->measuring.to_nothing < 0 ? -errno : 0;
}

static int read_cell(json_t *said, struct measured *m) {
    struct cell *c = &m->cell;
    const char *name;
    char why[128];
    json_t *said_axes, *text;
    int samples, discards, stamps;
    *c = cell_default;
    if (json_unpack(said, "{s:o,s:i,s:i,s:s,s:b}", "axes", &said_axes, "samples", &samples,
                    "discards", &discards, "target", &c->target, "stamps", &stamps) < 0)
        return -EINVAL;
    json_object_foreach(said_axes, name, text) {
        const struct axis *axis = axis_find(name);
        if (!axis || !axis_set(axis, c, json_string_value(text), why, sizeof why))
            return -EINVAL;
    }
    m->has_stamps = stamps;
    c->samples = (unsigned)samples;
    c->discards = (unsigned)discards;
    m->samples = calloc(c->samples, sizeof *m->samples);
    return !c->strategy ? -EINVAL : m->samples ? 0 : -ENOMEM;
}

static int read_order(struct block *b) {
    char *line;
    json_t *cells;
    json_int_t seed;
    if (!read_line(&line))
        return -EPIPE;
    b->order = json_loads(line, 0, NULL);
    free(line);
    if (json_unpack(b->order, "{s:I,s:o}", "seed", &seed, "cells", &cells) < 0 ||
        json_array_size(cells) == 0)
        return -EINVAL;
    b->random = (uint64_t)seed;
    b->count = json_array_size(cells);
    b->cells = calloc(b->count, sizeof *b->cells);
    int rc = b->cells ? 0 : -ENOMEM;
    for (size_t i = 0; i < b->count && rc == 0; i++)
        rc = read_cell(json_array_get(cells, i), &b->cells[i]);
    return rc;
}

/* The present limit may be lower; then it is that one which the ballast meets. */
static int limit_memory(const struct block *b) {
    rlim_t budget = (rlim_t)json_integer_value(json_object_get(b->order, "budget"));
    struct rlimit limit;
    if (budget == 0 || getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur < budget)
        return 0;
    limit.rlim_cur = budget;
    return setrlimit(RLIMIT_AS, &limit) < 0 ? -errno : 0;
}

/* The library opens forkless-exec at its first use and keeps it: now, so that no cell leaves it
 * behind. Where it is not there, the cells that need it say so. */
static void open_helper(void) {
    char path[4096];
    forkless_command *command;
    forkless_child *child;
    if (path_helper(path, sizeof path))
        forkless_helper_path(path);
    if (forkless_command_new(&command, "/") < 0)
        return;
    forkless_command_uid(command, geteuid());
    forkless_spawn(command, &child, NULL); /* "/" cannot be executed */
    forkless_command_free(command);
}

static bool needs_helper(const struct block *b) {
    bool needs = false;
    for (size_t i = 0; i < b->count; i++)
        needs |= b->cells[i].cell.attribute->helped;
    return needs;
}

static int prepare(struct block *b) {
    /* A group of its own, so that the runner can end the targets with it; no block outlives its
     * runner. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    fcntl(BLOCK_OUT, F_SETFD, FD_CLOEXEC);
    int rc = path_small(b->measuring.programs, sizeof b->measuring.programs) ? read_order(b)
                                                                             : -ENAMETOOLONG;
    if (rc == 0 && needs_helper(b))
        open_helper();
    if (rc == 0)
        rc = limit_memory(b);
    if (rc == 0)
        rc = open_stamps(b);
    if (rc == 0)
        rc = ballast_make(&b->cells[0].cell.ballast);
    return rc;
}

int block_main(void) {
    struct block b = {0};
    char *go;
    int rc = prepare(&b);
    if (rc < 0) {
        say_problem(strerror(-rc), rc == -ENOMEM);
        return 1;
    }
    say(json_pack("{s:b}", "populated", 1));
    if (!read_line(&go))
        return 1;
    /* From its first thread on libc locks, in fork above all: cells with threads come last. */
    for (int threaded = 0; threaded < 2; threaded++)
        for (uint64_t load = LOAD_IDLE; load < LOADS; load++)
            run_with_load(&b, threaded, load);
    say(json_pack("{s:b}", "done", 1));
    return read_line(&go) ? 1 : 0; /* the runner looks once more, then hangs up */
}
