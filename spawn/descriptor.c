/*
 * A parallel move. A map whose target nobody has to read any more may be carried out; that ends all
 * chains and leaves cycles, each opened by saving one descriptor in a spare number. By then every
 * target is open, since it was moved to or is the source of another, so the kernel's lowest free
 * number is never a target.
 */
#include "descriptor.h"

#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first map whose `to` is not below the one asked for. */
static size_t lower_bound(const struct fl_descriptors *d, int to) {
    size_t low = 0, high = d->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->maps[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The map whose target this is, or `count`. */
static size_t find(const struct fl_descriptors *d, int to) {
    size_t i = lower_bound(d, to);
    return i < d->count && d->maps[i].to == to ? i : d->count;
}

int fl_descriptors_add(struct fl_descriptors *d, int to, int from) {
    if (to < 0 || from < 0)
        return -EBADF;
    if (find(d, to) < d->count)
        return -EEXIST;
    if (d->count == d->room) {
        size_t room = d->room ? 2 * d->room : 4;
        struct fl_map *maps = realloc(d->maps, room * sizeof *maps);
        if (!maps)
            return -ENOMEM;
        d->maps = maps;
        d->room = room;
    }
    size_t i = lower_bound(d, to);
    memmove(&d->maps[i + 1], &d->maps[i], (d->count - i) * sizeof *d->maps);
    d->maps[i] = (struct fl_map){.to = to, .from = from};
    d->count++;
    return 0;
}

struct plan {
    const struct fl_descriptors *d;
    size_t *readers; /* of each target, the maps that still have to read it; DONE: carried out */
    struct fl_moves *moves;
};

#define DONE SIZE_MAX

static void emit(struct plan *p, enum fl_move_kind kind, int to, int from) {
    p->moves->move[p->moves->count++] = (struct fl_move){kind, to, from};
}

/* Carries out a map, if nobody reads its target, then the one that it alone held back, and so on.
 */
static void run_chain(struct plan *p, size_t i) {
    while (i < p->d->count && p->readers[i] == 0) {
        const struct fl_map *map = &p->d->maps[i];
        emit(p, FL_MOVE, map->to, map->from);
        p->readers[i] = DONE;
        i = find(p->d, map->from);
        if (i < p->d->count && p->readers[i] != DONE)
            p->readers[i]--;
    }
}

static void run_cycle(struct plan *p, size_t i) {
    int first = p->d->maps[i].to;
    struct fl_move *save = &p->moves->move[p->moves->count];
    emit(p, FL_SAVE, -1, first);
    for (;;) {
        const struct fl_map *map = &p->d->maps[i];
        p->readers[i] = DONE;
        if (map->from == first)
            break;
        emit(p, FL_MOVE, map->to, map->from);
        i = find(p->d, map->from);
    }
    save->to = p->d->maps[i].to;
    emit(p, FL_RESTORE, save->to, -1);
}

static void run(struct plan *p) {
    const struct fl_descriptors *d = p->d;
    for (size_t i = 0; i < d->count; i++)
        if (d->maps[i].from == d->maps[i].to) {
            emit(p, FL_KEEP, d->maps[i].to, d->maps[i].from);
            p->readers[i] = DONE;
        }
    for (size_t i = 0; i < d->count; i++) {
        size_t read = find(d, d->maps[i].from);
        if (read < d->count && p->readers[read] != DONE)
            p->readers[read]++;
    }
    for (size_t i = 0; i < d->count; i++)
        run_chain(p, i);
    for (size_t i = 0; i < d->count; i++)
        if (p->readers[i] != DONE)
            run_cycle(p, i);
}

int fl_descriptors_plan(struct fl_descriptors *d) {
    if (d->count == 0 || atomic_load_explicit(&d->moves, memory_order_acquire))
        return 0;
    /* A cycle of n takes n + 1 moves, and n is at least 2. */
    struct plan p = {.d = d,
                     .readers = calloc(d->count, sizeof *p.readers),
                     .moves = calloc(1, sizeof *p.moves + 2 * d->count * sizeof *p.moves->move)};
    struct fl_moves *none = NULL;
    int rc = p.readers && p.moves ? 0 : -ENOMEM;
    if (rc == 0)
        run(&p);
    if (rc < 0 || !atomic_compare_exchange_strong(&d->moves, &none, p.moves))
        free(p.moves);
    free(p.readers);
    return rc;
}

void fl_descriptors_free(struct fl_descriptors *d) {
    free(d->maps);
    free(d->moves);
}
