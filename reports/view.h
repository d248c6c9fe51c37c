#pragma once

#include "run.h"

/*
 * What one page compares: spawns of one target with one gap, over sizes and strategies. The default
 * target and gap where the run has them, without more descriptors, spawners or attributes. Some
 * tables show what differs from it, under heads that say so.
 */

struct burst {
    int64_t at_once;
    int64_t rss; /* the largest that has this burst */
    int64_t gap;
};

struct row {
    char *strategy;
    bool is_floor;
    double call; /* median at the largest size, NaN when not measured there */
};

struct view {
    const struct run *run;
    char *target;
    int64_t gap;
    size_t size_count;
    int64_t *sizes;  /* ascending */
    int64_t largest; /* of the sizes, the last with at least half as many strategies as any */
    size_t row_count;
    size_t ranked;    /* the rows that people choose from; the floors come after them */
    struct row *rows; /* the least call first */
    size_t burst_count;
    struct burst *bursts; /* ascending */
};

/* The targets of the run, the one of the view first, as a malloced array; those that only cells of
 * others have (others.h) are in their tables alone. */
char **find_targets(const struct run *run, size_t *count);

void view_open(struct view *view, const struct run *run, char *target);
void view_close(struct view *view);

bool is_spawn(const struct cell *cell); /* and not the null cell */

/* At which the view's target was spawned one at a time with a gap: malloced, ascending. */
int64_t *find_sizes(const struct view *view, int64_t gap, size_t *count);

/* The strategy's cell of one spawn at a time at a size; NULL when the run has none. */
const struct cell *view_cell(const struct view *view, const char *strategy, int64_t rss);
