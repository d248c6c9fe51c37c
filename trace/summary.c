#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct program_summary *get_program(struct summary *s, const struct creation *c) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->programs[i].name, c->name) == 0)
            return &s->programs[i];
    struct program_summary *programs = realloc(s->programs, (s->count + 1) * sizeof *programs);
    if (!programs)
        return NULL;
    s->programs = programs;
    struct program_summary *p = &programs[s->count++];
    memset(p, 0, sizeof *p);
    memcpy(p->name, c->name, sizeof p->name);
    return p;
}

static int add_call(struct tally *t, int64_t call) {
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        int64_t *calls = realloc(t->calls, room * sizeof *calls);
        if (!calls)
            return -ENOMEM;
        t->calls = calls;
        t->room = room;
    }
    t->calls[t->count++] = call;
    t->total += call;
    histogram_add(&t->histogram, call);
    return 0;
}

static int add_phases(struct tally *t, const struct phases_record *r) {
    if (t->phase_count == t->phase_room) {
        size_t room = t->phase_room ? 2 * t->phase_room : 64;
        int64_t(*phases)[INTERVALS] = realloc(t->phases, room * sizeof *phases);
        if (!phases)
            return -ENOMEM;
        t->phases = phases;
        t->phase_room = room;
    }
    intervals_of(r, t->phases[t->phase_count++]);
    return 0;
}

static int add_trail(struct tally *t, const struct trail *trail) {
    for (size_t i = 0; i < t->trail_count; i++)
        if (t->trails[i].trail == trail) {
            t->trails[i].count++;
            return 0;
        }
    struct trail_count *trails = realloc(t->trails, (t->trail_count + 1) * sizeof *trails);
    if (!trails)
        return -ENOMEM;
    t->trails = trails;
    trails[t->trail_count++] = (struct trail_count){trail, 1};
    return 0;
}

static int keep_largest(struct tally *t, const struct creation *c) {
    if (t->largest && t->largest->rss >= c->rss)
        return 0;
    struct creation *copy = malloc(sizeof *copy);
    if (!copy)
        return -ENOMEM;
    *copy = *c;
    free((void *)t->largest);
    t->largest = copy;
    return 0;
}

int summary_add(struct summary *s, const struct creation *c) {
    struct program_summary *p = get_program(s, c);
    if (!p)
        return -ENOMEM;
    struct tally *t = &p->tallies[creation_is_fork(c) ? TALLY_FORK : TALLY_VFORK_CLASS];
    p->pid = c->pid;
    if (c->then == THEN_FAILED)
        t->failed++;
    else if (creation_execs(c))
        t->execs++;
    else if (creation_runs_on(c))
        t->runs_on++;
    else if (c->then == THEN_EXIT)
        t->exits++;
    int rc = add_call(t, c->call);
    if (rc == 0 && c->trail)
        rc = add_trail(t, c->trail);
    if (rc == 0 && c->phases.id)
        rc = add_phases(t, &c->phases);
    return rc == 0 ? keep_largest(t, c) : rc;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_count(const void *a, const void *b) {
    const struct trail_count *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static int64_t waited(const struct program_summary *p) {
    return p->tallies[TALLY_FORK].total + p->tallies[TALLY_VFORK_CLASS].total;
}

static int by_wait(const void *a, const void *b) {
    int64_t x = waited(a), y = waited(b);
    return (x < y) - (x > y);
}

void summary_end(struct summary *s) {
    for (size_t i = 0; i < s->count; i++)
        for (int kind = 0; kind < TALLIES; kind++) {
            struct tally *t = &s->programs[i].tallies[kind];
            if (t->count > 0)
                qsort(t->calls, t->count, sizeof *t->calls, by_size);
            if (t->trail_count > 0)
                qsort(t->trails, t->trail_count, sizeof *t->trails, by_count);
        }
    if (s->count > 0)
        qsort(s->programs, s->count, sizeof *s->programs, by_wait);
}

void summary_free(struct summary *s) {
    for (size_t i = 0; i < s->count; i++)
        for (int kind = 0; kind < TALLIES; kind++) {
            free(s->programs[i].tallies[kind].calls);
            free(s->programs[i].tallies[kind].phases);
            free(s->programs[i].tallies[kind].trails);
            free((void *)s->programs[i].tallies[kind].largest);
        }
    free(s->programs);
}

/* They are in order. */
static int64_t median(const int64_t *values, size_t count) {
    int64_t upper = values[count / 2];
    return count % 2 ? upper : (values[count / 2 - 1] + upper) / 2;
}

int64_t tally_median(const struct tally *t) {
    return t->count > 0 ? median(t->calls, t->count) : 0;
}

void tally_phases(const struct tally *t, int64_t medians[INTERVALS]) {
    int64_t *known = calloc(t->phase_count + 1, sizeof *known);
    for (size_t i = 0; i < INTERVALS; i++) {
        size_t count = 0;
        for (size_t k = 0; known && k < t->phase_count; k++)
            if (t->phases[k][i] != INTERVAL_UNKNOWN)
                known[count++] = t->phases[k][i];
        if (count > 0)
            qsort(known, count, sizeof *known, by_size);
        medians[i] = count > 0 ? median(known, count) : INTERVAL_UNKNOWN;
    }
    free(known);
}
