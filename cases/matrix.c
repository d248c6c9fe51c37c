#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BIG = UINT64_C(256) << 20;
enum { NULL_SAMPLES = 200 };

static unsigned samples_of(const struct cell *cell, const struct recipe *recipe, unsigned asked) {
    unsigned samples = asked ? asked : recipe->samples, most = recipe->samples_of_big_copies;
    if (!cell->strategy->body)
        return samples < NULL_SAMPLES / 5 ? 5 * samples : NULL_SAMPLES;
    return cell->strategy->copies && cell->rss > BIG && samples > most ? most : samples;
}

/*
 * Back to back is a steady state: CPUs that idle only for microseconds stop halting, after 20 to 50
 * spawns in a virtual machine. A copy of a big parent takes too long for that to matter.
 */
static unsigned discards_of(const struct cell *cell) {
    return cell->gap_ns == 0 && !cell->strategy->copies ? 60 : 5;
}

static const struct cell *find(const struct matrix *m, const char *name) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->cells[i].name, name) == 0)
            return &m->cells[i];
    return NULL;
}

/* The first of a name stays. */
static bool add(struct matrix *m, const struct cell *cell, char *why, size_t size) {
    const struct cell *there = find(m, cell->name);
    if (there && strcmp(there->target, cell->target) == 0)
        return true;
    if (there) {
        snprintf(why, size, "the targets %s and %s have one name", there->target, cell->target);
        return false;
    }
    struct cell *cells = reallocarray(m->cells, m->count + 1, sizeof *cells);
    if (!cells) {
        snprintf(why, size, "no memory for the matrix");
        return false;
    }
    m->cells = cells;
    m->cells[m->count++] = *cell;
    return true;
}

/* What is being filled, and from what. */
struct filling {
    struct matrix *matrix;
    const struct recipe *recipe;
    const struct overrides *overrides;
    const struct entry *entry;
    const char *path;
    char *why;
    size_t size;
};

static void blame(const struct filling *f, enum axis axis, const char *text, const char *why) {
    unsigned line, column;
    if (f->overrides->axes[axis].count)
        snprintf(f->why, f->size, "--%s: %s", axis == AXIS_AT_ONCE ? "at-once" : axis_names[axis],
                 why);
    else if (recipe_position(f->path, axis_names[axis], text, &line, &column))
        snprintf(f->why, f->size, "%s: line %u, column %u: %s: %s", f->path, line, column,
                 axis_names[axis], why);
    else
        snprintf(f->why, f->size, "%s: %s: %s", f->path, axis_names[axis], why);
}

static bool has_conflict(const struct filling *f, const struct cell *cell) {
    char why[WHY_SIZE / 2], text[16];
    enum axis axis = cell_conflict(cell, why, sizeof why);
    if (axis == AXES)
        return false;
    snprintf(text, sizeof text, "%u", cell->spawners);
    blame(f, axis, axis == AXIS_ATTRIBUTES ? cell->attribute->name : text, why);
    return true;
}

static bool add_entry_cell(const struct filling *f, struct cell cell) {
    if (has_conflict(f, &cell))
        return false;
    unsigned samples = f->overrides->samples;
    if (samples == 0 && f->entry->samples)
        samples = *f->entry->samples;
    cell.samples = samples_of(&cell, f->recipe, samples);
    cell.discards = discards_of(&cell);
    cell_name(&cell);
    return add(f->matrix, &cell, f->why, f->size);
}

static bool expand(const struct filling *f, struct cell cell, enum axis axis);

/* `each` stands for every attribute that there is. */
static bool expand_each(const struct filling *f, struct cell cell) {
    for (size_t i = 1; i < attribute_count; i++) {
        cell.attribute = &attributes[i];
        if (!expand(f, cell, AXIS_ATTRIBUTES + 1))
            return false;
    }
    return true;
}

static bool expand_value(const struct filling *f, struct cell cell, enum axis axis,
                         const char *text) {
    char why[WHY_SIZE / 2];
    if (axis == AXIS_ATTRIBUTES && strcmp(text, "each") == 0)
        return expand_each(f, cell);
    if (cell_set(&cell, axis, text, why, sizeof why))
        return expand(f, cell, axis + 1);
    blame(f, axis, text, why);
    return false;
}

/* Every value of this axis, with every value of those after it. */
static bool expand(const struct filling *f, struct cell cell, enum axis axis) {
    if (axis == AXES)
        return add_entry_cell(f, cell);
    const struct values *values = &f->overrides->axes[axis];
    if (values->count == 0)
        values = &f->entry->axes[axis];
    if (values->count == 0)
        return expand(f, cell, axis + 1);
    for (unsigned i = 0; i < values->count; i++)
        if (!expand_value(f, cell, axis, values->text[i]))
            return false;
    return true;
}

bool matrix_fill(struct matrix *m, const struct recipe *recipe, const struct overrides *overrides,
                 const char *path, char *why, size_t size) {
    const struct entry none = {0};
    struct filling f = {m, recipe, overrides, &none, path, why, size};
    struct cell null = cell_default;
    null.strategy = &strategy_null;
    if (!add_entry_cell(&f, null))
        return false;
    for (unsigned i = 0; i < recipe->entries_count; i++) {
        f.entry = &recipe->entries[i];
        if (!expand(&f, cell_default, AXIS_STRATEGY))
            return false;
    }
    return true;
}

void matrix_clear(struct matrix *m) {
    free(m->cells);
    *m = (struct matrix){0};
}

void matrix_filter(struct matrix *m, const regex_t *regex) {
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++)
        if (regexec(regex, m->cells[i].name, 0, NULL, 0) == 0)
            m->cells[kept++] = m->cells[i];
    m->count = kept;
}

size_t matrix_ballasts(const struct matrix *m, uint64_t *rss) {
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        size_t j = 0;
        while (j < count && rss[j] != m->cells[i].rss)
            j++;
        if (j == count)
            rss[count++] = m->cells[i].rss;
    }
    return count;
}
