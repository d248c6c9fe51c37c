#include "floor.h"

#include <stdlib.h>
#include <string.h>

const char *floor_name(const struct cell *cell) {
    return strcmp(cell->axes.strategy, "forkless_start") ? "floor_vfork" : "floor_vm";
}

const struct cell *find_floor(const struct run *run, const struct cell *cell) {
    if (is_null(cell) || is_floor(cell))
        return NULL;
    struct axes axes = cell->axes;
    axes.attributes = NO_ATTRIBUTES; /* the floors take none */
    axes.strategy = (char *)floor_name(cell);
    return find_cell(run, axes);
}

double *multiples_by_round(const struct run *run, const struct cell *cell, enum figure figure) {
    double *values = by_round(run, cell, figure, 0.5);
    double *floors = by_round(run, find_floor(run, cell), figure, 0.5);
    for (size_t round = 0; round < run->rounds; round++)
        values[round] /= floors[round];
    free(floors);
    return values;
}

struct estimate estimate_multiple(const struct run *run, const struct cell *cell,
                                  enum figure figure) {
    return estimate(multiples_by_round(run, cell, figure), run->rounds);
}
