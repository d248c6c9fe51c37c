#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define MS  UINT64_C(1000000)

enum { QUICK_CELLS_MAX = 64 };

static const struct strategy *const known[] = {
    &strategy_forkless_start, &strategy_forkless_spawn, &strategy_clone3,
    &strategy_vfork,          &strategy_posix_spawn,    &strategy_fork,
};
static const struct strategy *const floors[] = {&strategy_floor_vm, &strategy_floor_vfork};
static const uint64_t sizes[] = {0, 256 * MIB, 1 * GIB, 4 * GIB};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const struct strategy *strategy_find(const char *name) {
    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(known[i]->name, name) == 0)
            return known[i];
    for (size_t i = 0; i < COUNT(floors); i++)
        if (strcmp(floors[i]->name, name) == 0)
            return floors[i];
    return strcmp(strategy_null.name, name) == 0 ? &strategy_null : NULL;
}

void size_name(uint64_t bytes, char *out, size_t size) {
    if (bytes == 0)
        snprintf(out, size, "0");
    else if (bytes % GIB == 0)
        snprintf(out, size, "%lluGiB", (unsigned long long)(bytes / GIB));
    else if (bytes % MIB == 0)
        snprintf(out, size, "%lluMiB", (unsigned long long)(bytes / MIB));
    else
        snprintf(out, size, "%lluB", (unsigned long long)bytes);
}

static void gap_name(uint64_t ns, char *out, size_t size) {
    if (ns == 0)
        snprintf(out, size, "0");
    else if (ns % MS == 0)
        snprintf(out, size, "%llums", (unsigned long long)(ns / MS));
    else
        snprintf(out, size, "%lluns", (unsigned long long)ns);
}

/* An axis at its default is not in the name. */
static void name_cell(struct cell *cell) {
    char *at = cell->name, *end = at + sizeof cell->name, value[32];
    at += snprintf(at, (size_t)(end - at), "spawn/%s", cell->strategy->name);
    if (cell->rss != 0) {
        size_name(cell->rss, value, sizeof value);
        at += snprintf(at, (size_t)(end - at), "/rss:%s", value);
    }
    if (cell->gap_ns != MS) {
        gap_name(cell->gap_ns, value, sizeof value);
        at += snprintf(at, (size_t)(end - at), "/gap:%s", value);
    }
    if (cell->at_once != 1)
        at += snprintf(at, (size_t)(end - at), "/at_once:%u", cell->at_once);
    if (strcmp(cell->target, "tiny") != 0) {
        const char *base = strrchr(cell->target, '/');
        snprintf(at, (size_t)(end - at), "/target:%.48s", base ? base + 1 : cell->target);
    }
}

/* 80 in 8 rounds are enough for the p99 of the biggest parent; a copy of a big one takes too long.
 */
static unsigned quick_samples(const struct cell *cell) {
    if (cell->strategy->copies && cell->rss > 256 * MIB)
        return 5;
    if (cell->at_once > 1)
        return 10;
    return cell->rss == 4 * GIB && cell->gap_ns > 0 ? 80 : 40;
}

/*
 * Back to back is a steady state: CPUs that idle only for microseconds stop halting, after 20 to 50
 * spawns in a virtual machine. A copy of a big parent takes too long for that to matter.
 */
static unsigned quick_discards(const struct cell *cell) {
    return cell->gap_ns == 0 && !cell->strategy->copies ? 60 : 5;
}

static void add(struct matrix *m, struct cell cell) {
    if (cell.samples == 0)
        cell.samples = quick_samples(&cell);
    cell.discards = quick_discards(&cell);
    name_cell(&cell);
    m->cells[m->count++] = cell;
}

struct matrix *matrix_quick(const char *target) {
    struct matrix *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->name = "quick";
    m->cells = calloc(QUICK_CELLS_MAX, sizeof *m->cells);
    if (!m->cells) {
        free(m);
        return NULL;
    }
    const struct cell standard = {.gap_ns = MS, .at_once = 1, .target = target};
    struct cell cell = standard;
    cell.strategy = &strategy_null;
    cell.samples = 200;
    add(m, cell);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        cell = standard;
        cell.rss = sizes[s];
        for (size_t i = 0; i < COUNT(floors); i++) {
            cell.strategy = floors[i];
            add(m, cell);
        }
        for (size_t i = 0; i < COUNT(known); i++) {
            cell.strategy = known[i];
            add(m, cell);
        }
    }
    /* Back to back in the biggest parent, and a burst. */
    for (size_t i = 0; i < COUNT(floors) + COUNT(known); i++) {
        cell = standard;
        cell.strategy = i < COUNT(floors) ? floors[i] : known[i - COUNT(floors)];
        cell.rss = 4 * GIB;
        cell.gap_ns = 0;
        add(m, cell);
        cell.rss = 1 * GIB;
        cell.gap_ns = MS;
        cell.at_once = 16;
        add(m, cell);
    }
    return m;
}

void matrix_free(struct matrix *m) {
    free(m->cells);
    free(m);
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
