/* A cell is one case with one value on each axis; a matrix is a set of cells. */
#ifndef MATRIX_H
#define MATRIX_H

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#include "case.h"

enum { CELL_NAME_SIZE = 160, CHUNK = 20 };

struct cell {
    const struct strategy *strategy;
    uint64_t rss;    /* bytes of ballast */
    uint64_t gap_ns; /* the caller's own work before each sample */
    unsigned at_once;
    const char *target;
    unsigned samples;  /* a round, in chunks of CHUNK */
    unsigned discards; /* spawns before each chunk that are not recorded: what the cell before left
                          behind */
    char name[CELL_NAME_SIZE];
};

struct matrix {
    const char *name;
    struct cell *cells;
    size_t count;
};

/* The matrix `quick`, with one target for all its cells; `target` is kept. NULL: no memory.
 * matrix_free() ends it. */
struct matrix *matrix_quick(const char *target);
void matrix_free(struct matrix *);

/* Keeps the cells whose names match. */
void matrix_filter(struct matrix *, const regex_t *);

/* The sizes of parent in it, each once; `rss` has room for one of each cell. How many. */
size_t matrix_ballasts(const struct matrix *, uint64_t *rss);

/* "0", "256MiB", "1GiB", or bytes with "B". */
void size_name(uint64_t bytes, char *out, size_t size);

#endif
