#include "run_line.h"

#include <string.h>
#include <time.h>

#include "build.h"
#include "choose.h"
#include "examine.h"
#include "host.h"

static json_t *cell_object(const struct cell *c) {
    char id[17];
    json_t *object =
        json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:I,s:I}", "name", c->name, "strategy",
                  c->strategy->name, "rss", (json_int_t)c->rss, "gap", (json_int_t)c->gap_ns,
                  "at_once", (json_int_t)c->at_once, "target", target_name(c->target), "samples",
                  (json_int_t)c->samples, "discards", (json_int_t)c->discards);
    if (!target_is_known(c->target) && target_id(c, id))
        json_object_set_new(object, "target_id", json_string(id));
    if (c->fds != cell_default.fds)
        json_object_set_new(object, "fds", json_integer(c->fds));
    if (c->spawners != cell_default.spawners)
        json_object_set_new(object, "spawners", json_integer(c->spawners));
    if (c->attribute != cell_default.attribute)
        json_object_set_new(object, "attributes", json_string(c->attribute->name));
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

static bool read_cell(json_t *object, struct cell *cell) {
    const char *name, *strategy, *attribute = cell_default.attribute->name;
    json_int_t rss, gap, at_once, fds = 0, spawners = 1, samples, discards;
    char why[WHY_SIZE];
    if (json_unpack(object, "{s:s,s:s,s:I,s:I,s:I,s?I,s?I,s?s,s:s,s:I,s:I}", "name", &name,
                    "strategy", &strategy, "rss", &rss, "gap", &gap, "at_once", &at_once, "fds",
                    &fds, "spawners", &spawners, "attributes", &attribute, "target", &cell->target,
                    "samples", &samples, "discards", &discards) < 0)
        return false;
    cell->attribute = attribute_find(attribute);
    cell->fds = (unsigned)fds;
    cell->spawners = (unsigned)spawners;
    cell->strategy = strategy_find(strategy);
    cell->rss = (uint64_t)rss;
    cell->gap_ns = (uint64_t)gap;
    cell->at_once = (unsigned)at_once;
    cell->samples = (unsigned)samples;
    cell->discards = (unsigned)discards;
    if (!cell->strategy || !cell->attribute || rss < 0 || gap < 0 || at_once < 1 ||
        at_once > CHILDREN_MAX || fds < 0 || fds > FDS_MAX || spawners < 1 ||
        spawners > SPAWNERS_MAX || samples < 1 || samples > SAMPLES_MAX || discards < 0 ||
        cell_conflict(cell, why, sizeof why) != AXES)
        return false;
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
