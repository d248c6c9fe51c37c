#include "run.h"

#include "fields.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, MOST_ROUNDS = 10000 };

const char *const figure_names[FIGURES] = {"call", "ready", "total", "cpu"};
const char *const state_names[STATES] = {"not run", "measured", "failed", "unsupported", "timeout"};

static bool read_host(struct source *source, const json_t *line, struct host *host) {
    json_t *object;
    return field_object(source, line, "host", &object) &&
           field_text(source, object, "cpu", &host->cpu) &&
           field_whole(source, object, "cpus", 1, &host->cpus) &&
           field_flag(source, object, "virtual", &host->is_virtual) &&
           field_text(source, object, "kernel", &host->kernel) &&
           field_text(source, object, "libc", &host->libc) &&
           field_whole(source, object, "page_size", 1, &host->page_size);
}

static bool read_axes(struct source *source, const json_t *object, struct axes *axes) {
    return field_text(source, object, "strategy", &axes->strategy) &&
           field_whole(source, object, "rss", 0, &axes->rss) &&
           field_whole(source, object, "gap", 0, &axes->gap) &&
           field_whole(source, object, "at_once", 1, &axes->at_once) &&
           field_text(source, object, "target", &axes->target);
}

static bool add_cell(struct source *source, struct run *run, const json_t *object) {
    struct cell *cell = &run->cells[run->cell_count];
    if (!field_text(source, object, "name", &cell->name))
        return false;
    bool twice = run_cell(run, cell->name);
    run->cell_count++;
    if (twice)
        return refuse(source, "the cell %s is listed twice", cell->name);
    cell->rounds = must(calloc(run->rounds, sizeof *cell->rounds));
    return read_axes(source, object, &cell->axes);
}

static bool read_run(struct source *source, const json_t *line, struct run *run) {
    int64_t schema, rounds;
    json_t *cells;
    if (!field_whole(source, line, "schema", 1, &schema))
        return false;
    if (schema > SCHEMA)
        return refuse(source, "schema %jd is newer than %d, the newest known here",
                      (intmax_t)schema, SCHEMA);
    if (!field_text(source, line, "matrix", &run->matrix) ||
        !field_whole(source, line, "rounds", 1, &rounds) || !read_host(source, line, &run->host) ||
        !field_array(source, line, "cells", &cells))
        return false;
    if (rounds > MOST_ROUNDS)
        return refuse(source, "`rounds` is above %d", MOST_ROUNDS);
    if (json_array_size(cells) == 0)
        return refuse(source, "the run lists no cells");

    run->rounds = (size_t)rounds;
    run->cells = must(calloc(json_array_size(cells), sizeof *run->cells));
    for (size_t i = 0; i < json_array_size(cells); i++)
        if (!add_cell(source, run, json_array_get(cells, i)))
            return false;
    return true;
}

static bool read_samples(struct source *source, const json_t *line, enum figure figure,
                         struct samples *samples) {
    const char *key = figure_names[figure];
    json_t *array;
    if (figure == READY && !json_object_get(line, key))
        return true;
    if (!field_array(source, line, key, &array))
        return false;
    size_t count = json_array_size(array);
    if (count == 0)
        return refuse(source, "`%s` has no samples", key);
    samples->ns = must(calloc(count, sizeof *samples->ns));
    samples->count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return refuse(source, "sample %zu of `%s` is not a whole number of at least 0", i + 1,
                          key);
        samples->ns[i] = (double)json_integer_value(value);
    }
    return true;
}

static bool read_measured(struct source *source, const json_t *line, struct samples *figures) {
    for (enum figure figure = CALL; figure < FIGURES; figure++) {
        if (!read_samples(source, line, figure, &figures[figure]))
            return false;
        if (figures[figure].count && figures[figure].count != figures[CALL].count)
            return refuse(source, "`%s` has %zu samples but `call` has %zu", figure_names[figure],
                          figures[figure].count, figures[CALL].count);
    }
    return true;
}

static bool read_state(struct source *source, const json_t *line, enum state *state) {
    char *name;
    if (!field_text(source, line, "state", &name))
        return false;
    for (*state = MEASURED; *state < STATES; (*state)++)
        if (!strcmp(name, state_names[*state]))
            break;
    bool known = *state < STATES;
    if (!known)
        refuse(source, "`state` is %s, not one of measured, failed, unsupported, timeout", name);
    free(name);
    return known;
}

static bool read_cell(struct source *source, const json_t *line, struct run *run) {
    char *name;
    int64_t round;
    if (!field_whole(source, line, "round", 0, &round) || !field_text(source, line, "cell", &name))
        return false;
    const struct cell *cell = run_cell(run, name);
    if (!cell)
        refuse(source, "the cell %s is not one that the run lists", name);
    free(name);
    if (!cell)
        return false;
    if ((size_t)round >= run->rounds)
        return refuse(source, "round %jd does not exist: the run has %zu, from 0", (intmax_t)round,
                      run->rounds);

    struct measurement *measurement = &cell->rounds[round];
    if (measurement->state != NOT_RUN)
        return refuse(source, "the cell %s has round %jd twice", cell->name, (intmax_t)round);
    return read_state(source, line, &measurement->state) &&
           (measurement->state == MEASURED
                ? read_measured(source, line, measurement->figures)
                : field_text(source, line, "reason", &measurement->reason));
}

static bool read_block(struct source *source, const json_t *line, struct run *run) {
    run->blocks = must(reallocarray(run->blocks, run->block_count + 1, sizeof *run->blocks));
    struct block *block = &run->blocks[run->block_count++];
    return field_number(source, line, "seconds", &block->seconds) &&
           field_number(source, line, "steal", &block->steal) &&
           field_number(source, line, "load", &block->load);
}

static bool read_object(struct source *source, const json_t *object, struct run *run) {
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (source->line == 1)
        return kind && !strcmp(kind, "run") ? read_run(source, object, run)
                                            : refuse(source, "this is no forkless results file");
    if (run->ended)
        return refuse(source, "there is a line after the end");
    if (kind && !strcmp(kind, "cell"))
        return read_cell(source, object, run);
    if (kind && !strcmp(kind, "block"))
        return read_block(source, object, run);
    if (kind && !strcmp(kind, "end")) {
        run->ended = true;
        return field_flag(source, object, "interrupted", &run->interrupted);
    }
    return refuse(source, "`kind` is not one of cell, block, end");
}

static bool read_line(struct source *source, const char *text, size_t length, struct run *run) {
    json_error_t broken;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &broken);
    bool good;
    if (object)
        good = read_object(source, object, run);
    else if (source->line == 1)
        good = refuse(source, "this is no forkless results file");
    else
        good = refuse(source, "broken JSON: %s", printable(broken.text));
    json_decref(object);
    return good;
}

/* A last line without its newline was cut off when the run was killed, and is dropped. */
static bool read_lines(struct source *source, FILE *file, struct run *run) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    errno = 0;
    while (good && (length = getline(&text, &room, file)) > 0 && text[length - 1] == '\n') {
        source->line++;
        good = read_line(source, text, (size_t)length, run);
    }
    if (good && ferror(file)) {
        source->line = 0;
        good = refuse(source, "cannot be read: %s", strerror(errno));
    } else if (good && source->line == 0) {
        good = refuse(source,
                      length > 0 ? "there is no complete line: no run began" : "the file is empty");
    }
    free(text);
    return good;
}

struct run *run_read(const char *path, char **error) {
    struct source source = {.path = path};
    FILE *file = fopen(path, "re");
    if (!file) {
        refuse(&source, "cannot be opened: %s", strerror(errno));
        *error = source.error;
        return NULL;
    }
    struct run *run = must(calloc(1, sizeof *run));
    run->path = must(strdup(path));
    bool good = read_lines(&source, file, run);
    fclose(file);
    if (good)
        return run;
    run_free(run);
    *error = source.error;
    return NULL;
}

const struct cell *run_cell(const struct run *run, const char *name) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (!strcmp(run->cells[i].name, name))
            return &run->cells[i];
    return NULL;
}

static void free_cell(struct cell *cell, size_t rounds) {
    for (size_t round = 0; cell->rounds && round < rounds; round++) {
        free(cell->rounds[round].reason);
        for (enum figure figure = CALL; figure < FIGURES; figure++)
            free(cell->rounds[round].figures[figure].ns);
    }
    free(cell->rounds);
    free(cell->name);
    free(cell->axes.strategy);
    free(cell->axes.target);
}

void run_free(struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        free_cell(&run->cells[i], run->rounds);
    free(run->cells);
    free(run->blocks);
    free(run->host.cpu);
    free(run->host.kernel);
    free(run->host.libc);
    free(run->matrix);
    free(run->path);
    free(run);
}
