#include "run.h"

#include "fields.h"
#include "host.h"
#include "memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 2, MOST_ROUNDS = 10000 };

const char *const state_names[STATES] = {"not run", "measured", "failed", "unsupported", "timeout"};

static const char *const level_names[LEVELS] = {"good", "note", "warning", "unknown"};

/* What tells this run from others. */
static bool read_identity(struct source *source, const json_t *line, struct run *run) {
    json_t *build = json_object_get(line, "build");
    run->seed = -1;
    return field_optional_whole(source, line, "seed", 0, &run->seed) &&
           field_optional_text(source, line, "started", &run->started) &&
           (!build || (field_object(source, line, "build", &build) &&
                       field_optional_text(source, build, "version", &run->version) &&
                       field_optional_text(source, build, "library", &run->library)));
}

/* Those that are not in the file are at their defaults. */
static bool read_more_axes(struct source *source, const json_t *object, struct axes *axes) {
    axes->spawners = 1;
    if (!field_optional_whole(source, object, "fds", 0, &axes->fds) ||
        !field_optional_whole(source, object, "spawners", 1, &axes->spawners) ||
        !field_optional_text(source, object, "attributes", &axes->attributes))
        return false;
    if (!axes->attributes)
        axes->attributes = must(strdup(NO_ATTRIBUTES));
    return true;
}

/* What these fields do not hold: any part of a name that is of another axis. */
static char *find_more(const char *name) {
    static const char *const known[] = {"rss",      "gap",        "at_once", "fds",
                                        "spawners", "attributes", "target"};
    char *more = must(strdup("")), *copy = must(strdup(name)), *rest = copy;
    for (const char *part; (part = strsep(&rest, "/"));) {
        const char *colon = strchr(part, ':');
        size_t i = 0, length = colon ? (size_t)(colon - part) : 0;
        while (i < sizeof known / sizeof *known &&
               (strlen(known[i]) != length || strncmp(part, known[i], length)))
            i++;
        if (!colon || i < sizeof known / sizeof *known)
            continue;
        char *longer = sentence("%s%s%s", more, *more ? "/" : "", part);
        free(more);
        more = longer;
    }
    free(copy);
    return more;
}

static bool read_axes(struct source *source, const json_t *object, struct axes *axes) {
    return read_more_axes(source, object, axes) &&
           field_text(source, object, "strategy", &axes->strategy) &&
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
    cell->axes.more = find_more(cell->name);
    cell->commands = 1;
    return read_axes(source, object, &cell->axes) &&
           field_optional_whole(source, object, "commands", 2, &cell->commands) &&
           field_optional_whole(source, object, "rounds", 1, &cell->asked);
}

/* The index of a field's text among the names that it can have from `first` on. */
static bool read_choice(struct source *source, const json_t *object, const char *key,
                        const char *const *names, size_t first, size_t count, size_t *choice) {
    char *name;
    if (!field_text(source, object, key, &name))
        return false;
    for (*choice = first; *choice < count; (*choice)++)
        if (!strcmp(name, names[*choice]))
            break;
    bool known = *choice < count;
    if (!known) {
        char *all = must(strdup(names[first]));
        for (size_t i = first + 1; i < count; i++) {
            char *more = sentence("%s, %s", all, names[i]);
            free(all);
            all = more;
        }
        refuse(source, "`%s` is %s, not one of %s", key, name, all);
        free(all);
    }
    free(name);
    return known;
}

static bool add_finding(struct source *source, struct run *run, const json_t *object) {
    size_t level = 0;
    struct finding *finding = &run->findings[run->finding_count++];
    *finding = (struct finding){0};
    bool good = field_text(source, object, "name", &finding->name) &&
                read_choice(source, object, "level", level_names, 0, LEVELS, &level) &&
                field_text(source, object, "found", &finding->found) &&
                field_optional_text(source, object, "effect", &finding->effect) &&
                field_optional_text(source, object, "next", &finding->next);
    finding->level = (enum level)level;
    return good;
}

static bool read_findings(struct source *source, const json_t *line, struct run *run) {
    json_t *list;
    if (!field_array(source, line, "findings", &list))
        return false;
    size_t count = json_array_size(list);
    run->findings =
        must(reallocarray(run->findings, run->finding_count + count + 1, sizeof *run->findings));
    for (size_t i = 0; i < count; i++)
        if (!add_finding(source, run, json_array_get(list, i)))
            return false;
    return true;
}

static bool read_rounds(struct source *source, const json_t *line, int64_t least, size_t *rounds) {
    int64_t whole;
    if (!field_whole(source, line, "rounds", least, &whole))
        return false;
    if (whole > MOST_ROUNDS)
        return refuse(source, "`rounds` is above %d", MOST_ROUNDS);
    *rounds = (size_t)whole;
    return true;
}

static bool read_run(struct source *source, json_t *line, struct run *run) {
    json_t *cells;
    if (!field_whole(source, line, "schema", 1, &run->schema))
        return false;
    if (run->schema > SCHEMA)
        return refuse(source, "schema %jd is newer than %d, the newest known here",
                      (intmax_t)run->schema, SCHEMA);
    if (!field_text(source, line, "matrix", &run->matrix) ||
        !read_rounds(source, line, 1, &run->rounds) || !read_identity(source, line, run) ||
        !host_read(source, line, &run->host) ||
        (run->schema >= 2 && !read_findings(source, line, run)) ||
        !field_array(source, line, "cells", &cells))
        return false;
    if (json_array_size(cells) == 0)
        return refuse(source, "the run lists no cells");

    facts_add(&run->facts, "", line);
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
    bool required = figure == CALL || figure == TOTAL || figure == CPU;
    if (!required && !json_object_get(line, key))
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

/* Of each child that was seen. */
static bool read_phases(struct source *source, const json_t *line, struct samples *figures) {
    json_t *phases;
    if (!json_object_get(line, "phases"))
        return true;
    if (!field_object(source, line, "phases", &phases))
        return false;
    for (enum figure figure = CREATE; figure < FIGURES; figure++)
        if (!read_samples(source, phases, figure, &figures[figure]))
            return false;
    return true;
}

static bool read_measured(struct source *source, const json_t *line, struct samples *figures) {
    for (enum figure figure = CALL; figure < CREATE; figure++) {
        if (!read_samples(source, line, figure, &figures[figure]))
            return false;
        if (figures[figure].count && figures[figure].count != figures[CALL].count)
            return refuse(source, "`%s` has %zu samples but `call` has %zu", figure_names[figure],
                          figures[figure].count, figures[CALL].count);
    }
    return read_phases(source, line, figures);
}

static bool fits_rounds(struct source *source, int64_t round, const struct run *run) {
    return (size_t)round < run->rounds ||
           refuse(source, "round %jd does not exist: the run has %zu, from 0", (intmax_t)round,
                  run->rounds);
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
    if (!fits_rounds(source, round, run))
        return false;

    struct measurement *measurement = &cell->rounds[round];
    if (measurement->state != NOT_RUN)
        return refuse(source, "the cell %s has round %jd twice", cell->name, (intmax_t)round);
    size_t state = MEASURED;
    if (!read_choice(source, line, "state", state_names, MEASURED, STATES, &state))
        return false;
    measurement->state = (enum state)state;
    return (measurement->state == MEASURED
                ? read_measured(source, line, measurement->figures)
                : field_text(source, line, "reason", &measurement->reason));
}

static bool read_disturbance(struct source *source, const json_t *line, const struct run *run,
                             struct block *block) {
    int64_t round;
    if (!field_whole(source, line, "round", 0, &round) || !fits_rounds(source, round, run) ||
        !field_whole(source, line, "rss", 0, &block->rss) ||
        !field_number(source, line, "other", &block->other))
        return false;
    block->round = (size_t)round;
    return field_optional_text(source, line, "ballast", &block->ballast) &&
           field_optional_text(source, line, "disturbed", &block->disturbed);
}

static bool read_block(struct source *source, const json_t *line, struct run *run) {
    run->blocks = must(reallocarray(run->blocks, run->block_count + 1, sizeof *run->blocks));
    struct block *block = &run->blocks[run->block_count++];
    *block = (struct block){.other = NAN};
    return field_number(source, line, "seconds", &block->seconds) &&
           field_number(source, line, "steal", &block->steal) &&
           field_number(source, line, "load", &block->load) &&
           (run->schema < 2 || read_disturbance(source, line, run, block));
}

static bool read_resume(struct source *source, const json_t *line, struct run *run) {
    if (run->schema < 2)
        return refuse(source, "schema %jd has no resume line", (intmax_t)run->schema);
    size_t before = run->rounds, rounds = before;
    if (!read_rounds(source, line, (int64_t)before, &rounds))
        return false;
    for (size_t i = 0; i < run->cell_count; i++) {
        struct measurement **all = &run->cells[i].rounds;
        *all = must(reallocarray(*all, rounds, sizeof **all));
        memset(&(*all)[before], 0, (rounds - before) * sizeof **all);
    }
    run->rounds = rounds;
    run->resumed++;
    run->ended = run->interrupted = false;
    return read_findings(source, line, run);
}

static bool read_object(struct source *source, json_t *object, struct run *run) {
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (source->line == 1)
        return kind && !strcmp(kind, "run") ? read_run(source, object, run)
                                            : refuse(source, "this is no forkless results file");
    if (kind && !strcmp(kind, "resume"))
        return read_resume(source, object, run);
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
    return refuse(source, "`kind` is not one of cell, block, resume, end");
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
    free(cell->axes.attributes);
    free(cell->axes.target);
    free(cell->axes.more);
}

void run_free(struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        free_cell(&run->cells[i], run->rounds);
    free(run->cells);
    for (size_t i = 0; i < run->block_count; i++) {
        free(run->blocks[i].ballast);
        free(run->blocks[i].disturbed);
    }
    free(run->blocks);
    for (size_t i = 0; i < run->finding_count; i++) {
        free(run->findings[i].name);
        free(run->findings[i].found);
        free(run->findings[i].effect);
        free(run->findings[i].next);
    }
    free(run->findings);
    facts_free(&run->facts);
    host_clear(&run->host);
    free(run->library);
    free(run->version);
    free(run->started);
    free(run->matrix);
    free(run->path);
    free(run);
}
