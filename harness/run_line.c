#include "run_line.h"

#include <string.h>
#include <time.h>

#include "build.h"
#include "choose.h"
#include "examine.h"
#include "host.h"

static void set_axis(json_t *object, const struct axis *axis, const struct cell *cell) {
    char text[AXIS_TEXT_SIZE];
    axis_print(axis, cell, text);
    json_object_set_new(object, axis->name,
                        axis->kind->is_number ? json_integer((json_int_t)axis_number(axis, cell))
                                              : json_string(text));
}

void ballast_set(json_t *object, const struct cell *cell) {
    char name[CELL_NAME_SIZE];
    ballast_name(cell, name, sizeof name);
    const char *more = strchr(name, '/');
    json_object_set_new(object, "rss", json_integer((json_int_t)cell->ballast.rss));
    if (more)
        json_object_set_new(object, "ballast", json_string(more + 1));
}

static json_t *cell_object(const struct cell *c) {
    char id[17];
    json_t *object = json_pack("{s:s}", "name", c->name);
    for (size_t i = 0; i < axis_count; i++)
        if (axes[i].always || !axis_is_default(&axes[i], c))
            set_axis(object, &axes[i], c);
    json_object_set_new(object, "samples", json_integer(c->samples));
    json_object_set_new(object, "discards", json_integer(c->discards));
    if (c->rounds)
        json_object_set_new(object, "rounds", json_integer(c->rounds));
    if (!target_is_known(c->target) && target_id(c, id))
        json_object_set_new(object, "target_id", json_string(id));
    return object;
}

static json_t *cells_of(const struct matrix *m) {
    json_t *cells = json_array();
    for (size_t i = 0; i < m->count; i++)
        json_array_append_new(cells, cell_object(&m->cells[i]));
    return cells;
}

static json_t *started(void) {
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_string(text);
}

json_t *run_line_make(const struct matrix *m, unsigned rounds, uint64_t seed) {
    return json_pack("{s:s,s:i,s:s,s:I,s:i,s:o,s:o,s:o,s:o,s:o}", "kind", "run", "schema", SCHEMA,
                     "matrix", m->name, "seed", (json_int_t)seed, "rounds", (int)rounds, "started",
                     started(), "host", host_describe(), "build", build_describe(), "findings",
                     examine_host(), "cells", cells_of(m));
}

json_t *resume_line_make(unsigned rounds) {
    return json_pack("{s:s,s:i,s:o,s:o}", "kind", "resume", "rounds", (int)rounds, "started",
                     started(), "findings", examine_host());
}

/* Where a program of somebody's own is the file does not say: its name is all there is. */
static bool read_axis(const struct axis *axis, const json_t *value, struct cell *cell) {
    char why[WHY_SIZE];
    if (!value)
        return !axis->always;
    if (axis->kind->is_number)
        return json_is_integer(value) && axis_set_number(axis, cell, json_integer_value(value));
    const char *text = json_string_value(value);
    if (text && axis == axis_find("target") && !strchr(text, '/')) {
        cell->target = text;
        return true;
    }
    return text && axis_set(axis, cell, text, why, sizeof why);
}

static bool read_cell(json_t *object, struct cell *cell) {
    const char *name;
    json_int_t samples, discards, rounds = 0;
    char why[WHY_SIZE];
    *cell = cell_default;
    if (json_unpack(object, "{s:s,s:I,s:I,s?I}", "name", &name, "samples", &samples, "discards",
                    &discards, "rounds", &rounds) < 0)
        return false;
    for (size_t i = 0; i < axis_count; i++)
        if (!read_axis(&axes[i], json_object_get(object, axes[i].name), cell))
            return false;
    if (samples < 1 || samples > SAMPLES_MAX || discards < 0 || discards > SAMPLES_MAX ||
        rounds < 0 || rounds > ROUNDS_MAX || axes_conflict(cell, why, sizeof why))
        return false;
    cell->samples = (unsigned)samples;
    cell->discards = (unsigned)discards;
    cell->rounds = (unsigned)rounds;
    cell_name(cell);
    return strcmp(cell->name, name) == 0;
}

bool run_line_read(json_t *line, struct matrix *m, unsigned *rounds, uint64_t *seed, char *why,
                   size_t size) {
    const char *kind = json_string_value(json_object_get(line, "kind"));
    json_int_t schema, said_rounds, said_seed;
    json_t *cells;
    if (!kind || strcmp(kind, "run") != 0 || json_unpack(line, "{s:I}", "schema", &schema) < 0) {
        snprintf(why, size, "this is no forkless results file");
        return false;
    }
    if (schema != SCHEMA) {
        snprintf(why, size, "it is of schema %lld, only runs of schema %d can be gone on with",
                 (long long)schema, SCHEMA);
        return false;
    }
    if (json_unpack(line, "{s:s,s:I,s:I,s:o}", "matrix", &m->name, "seed", &said_seed, "rounds",
                    &said_rounds, "cells", &cells) < 0 ||
        said_rounds < 1 || said_rounds > ROUNDS_MAX || json_array_size(cells) == 0) {
        snprintf(why, size, "its first line does not say what the run is");
        return false;
    }
    *rounds = (unsigned)said_rounds;
    *seed = (uint64_t)said_seed;
    m->cells = calloc(json_array_size(cells), sizeof *m->cells);
    if (!m->cells) {
        snprintf(why, size, "no memory");
        return false;
    }
    for (size_t i = 0; i < json_array_size(cells); i++) {
        if (!read_cell(json_array_get(cells, i), &m->cells[i])) {
            snprintf(why, size, "cell %zu of its first line is none that is known here", i + 1);
            return false;
        }
        m->count++;
    }
    return true;
}

bool run_line_has_target(json_t *line, size_t index, const struct cell *cell) {
    char id[17];
    json_t *object = json_array_get(json_object_get(line, "cells"), index);
    const char *said = json_string_value(json_object_get(object, "target_id"));
    return !said || (target_id(cell, id) && strcmp(id, said) == 0);
}

bool run_line_fits_host(json_t *line, char *why, size_t size) {
    static const struct {
        const char *of, *key, *word;
    } same[] = {
        {"host", "cpu", "CPU"},
        {"host", "cpus", "number of CPUs"},
        {"host", "kernel", "kernel"},
        {"host", "libc", "libc"},
        {"build", "library", "libforkless"},
        {"build", "compiler", "compiler"},
    };
    json_t *here = json_pack("{s:o,s:o}", "host", host_describe(), "build", build_describe());
    const char *other = NULL;
    for (size_t i = 0; i < sizeof same / sizeof *same && !other; i++)
        if (!json_equal(json_object_get(json_object_get(line, same[i].of), same[i].key),
                        json_object_get(json_object_get(here, same[i].of), same[i].key)))
            other = same[i].word;
    json_decref(here);
    if (other)
        snprintf(why, size, "it was measured with another %s, and the figures would mix", other);
    return !other;
}
