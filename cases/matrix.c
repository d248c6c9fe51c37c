#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BIG = UINT64_C(256) << 20, HUGE_PARENT = UINT64_C(32) << 30;
enum { NULL_SAMPLES = 200 };

static unsigned samples_of(const struct cell *cell, const struct recipe *recipe, unsigned asked) {
    unsigned samples = asked ? asked : recipe->samples, most = recipe->samples_of_big_copies;
    if (!strategy_starts(cell->strategy))
        return samples < NULL_SAMPLES / 5 ? 5 * samples : NULL_SAMPLES;
    return cell->strategy->copies && cell->ballast.rss > BIG && samples > most ? most : samples;
}

/*
 * Back to back is a steady state: CPUs that idle only for microseconds stop halting, after 20 to 50
 * spawns in a virtual machine. A copy of a big parent takes too long for that to matter.
 */
static unsigned discards_of(const struct cell *cell) {
    if (cell->commands > 1)
        return 0; /* the first are few among so many */
    if (cell->after != AFTER_NONE)
        return 0; /* what it looks at is long after what was left behind */
    if (cell->strategy->copies && cell->ballast.rss > HUGE_PARENT)
        return 1;
    return cell->gap_ns == 0 && !cell->strategy->copies ? 60 : 5;
}

static const struct cell *find(const struct matrix *m, const char *name) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->cells[i].name, name) == 0)
            return &m->cells[i];
    return NULL;
}

/* The first of a name stays. */
static bool add(struct matrix *m, const struct cell *cell, const char *path, char *why,
                size_t size) {
    const struct cell *there = find(m, cell->name);
    if (there && strcmp(there->target, cell->target) == 0)
        return true;
    if (there) {
        snprintf(why, size, "the targets %s and %s have one name", there->target, cell->target);
        return false;
    }
    if (m->count == CELLS_MAX) {
        snprintf(why, size, "%s: there are more than %d cells", path, CELLS_MAX);
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

static void blame(const struct filling *f, size_t axis, const char *text, const char *why) {
    unsigned line, column;
    const char *name = axes[axis].name;
    char option[32];
    axis_option(&axes[axis], option, sizeof option);
    if (f->overrides->axes[axis].count)
        snprintf(f->why, f->size, "%s: %s", option, why);
    else if (recipe_position(f->path, name, text, &line, &column))
        snprintf(f->why, f->size, "%s: line %u, column %u: %s: %s", f->path, line, column, name,
                 why);
    else
        snprintf(f->why, f->size, "%s: %s: %s (%s replaces it)", f->path, name, why, option);
}

static bool has_conflict(const struct filling *f, const struct cell *cell) {
    char why[WHY_SIZE / 2], text[AXIS_TEXT_SIZE];
    const struct axis *axis = axes_conflict(cell, why, sizeof why);
    if (!axis)
        return false;
    axis_print(axis, cell, text);
    blame(f, (size_t)(axis - axes), text, why);
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
    cell.rounds = f->entry->rounds ? *f->entry->rounds : 0;
    cell_name(&cell);
    return add(f->matrix, &cell, f->path, f->why, f->size);
}

static bool expand(const struct filling *f, struct cell cell, size_t axis);

static bool expand_value(const struct filling *f, struct cell cell, size_t axis, const char *text) {
    char why[WHY_SIZE / 2];
    if (axes[axis].each && strcmp(text, "each") == 0) {
        for (size_t i = 0; axes[axis].each(i); i++)
            if (!expand_value(f, cell, axis, axes[axis].each(i)))
                return false;
        return true;
    }
    if (axis_set(&axes[axis], &cell, text, why, sizeof why))
        return expand(f, cell, axis + 1);
    blame(f, axis, text, why);
    return false;
}

/* Every value of this axis, with every value of those after it. */
static bool expand(const struct filling *f, struct cell cell, size_t axis) {
    if (axis == axis_count)
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
        if (!expand(&f, cell_default, 0))
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

size_t matrix_ballasts(const struct matrix *m, const struct cell **firsts) {
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++) {
        size_t j = 0;
        while (j < count && !same_ballast(firsts[j], &m->cells[i]))
            j++;
        if (j == count)
            firsts[count++] = &m->cells[i];
    }
    return count;
}
