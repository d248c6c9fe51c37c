/* A matrix: a set of cells, from a file of entries, each the product of its axes. */
#ifndef MATRIX_H
#define MATRIX_H

#include <regex.h>

#include "axes.h"

enum { ROUNDS_MAX = 1000, SAMPLES_MAX = 100000, CELLS_MAX = 10000, WHY_SIZE = 512 };

/* The values of one axis as they are written; `count` 0: not given. */
struct values {
    char **text;
    unsigned count;
};

struct entry {
    struct values axes[AXES_MAX]; /* not given: at the default */
    unsigned *samples;            /* NULL: the matrix's */
    unsigned *rounds;             /* the first so many; NULL: all */
};

/* A matrix as its file has it. */
struct recipe {
    char *about;
    unsigned rounds;
    unsigned samples;               /* a round */
    unsigned samples_of_big_copies; /* the most, of a strategy that copies above 256 MiB */
    struct entry *entries;
    unsigned entries_count;
};

/* What the command line puts in the place of every entry's. */
struct overrides {
    struct values axes[AXES_MAX];
    unsigned samples; /* 0: none */
};

struct matrix {
    const char *name;
    struct cell *cells;
    size_t count;
};

/* NULL with a sentence that names file, line and column in `why`. recipe_free() ends it. */
struct recipe *recipe_load(const char *path, char *why, size_t size);
void recipe_free(struct recipe *);
/* Where a text stands in the file, as a value of `key`, or without that from line and column on.
 * False when it does not. */
bool recipe_position(const char *path, const char *key, const char *text, unsigned *line,
                     unsigned *column);

/* Puts every cell once into an empty matrix, spawn/null first. The texts of recipe and overrides
 * are kept. False with a sentence in `why`; `path` is for that. matrix_clear() ends it in either
 * case. */
bool matrix_fill(struct matrix *, const struct recipe *, const struct overrides *, const char *path,
                 char *why, size_t size);
void matrix_clear(struct matrix *);

/* Keeps the cells whose names match. */
void matrix_filter(struct matrix *, const regex_t *);

/* Its first cell of each ballast; `firsts` has room for every cell. How many. */
size_t matrix_ballasts(const struct matrix *, const struct cell **firsts);

#endif
