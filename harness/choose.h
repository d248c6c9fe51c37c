/* From what was asked for to a matrix whose targets are there. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "matrix.h"

enum { PATH_SIZE = 4096, NAME_SIZE = 64 };

/* A matrix by name or by file, and what the command line changes in it. */
struct choice {
    const char *name;   /* of one that ships, or a path */
    const char *filter; /* a regular expression, or NULL */
    struct overrides overrides;
    char path[PATH_SIZE];  /* of its file, */
    char stem[NAME_SIZE];  /* whose name without folder and ending is the matrix's, */
    struct recipe *recipe; /* and whose texts the matrix keeps */
    struct matrix matrix;
};

/* False with a sentence in `why`. choice_clear() ends it in either case. */
bool choice_make(struct choice *, char *why, size_t size);
void choice_clear(struct choice *);

/* The names of the matrices that ship, sorted, to be freed with matrix_names_free(). */
char **matrix_names(size_t *count);
void matrix_names_free(char **names, size_t count);

/* Where a cell's target is. False when it does not fit. */
bool target_path(const struct cell *, char *out, size_t size);

/* 16 hexadecimal digits that follow from the bytes of the target (FNV-1a). False when it cannot be
 * read. */
bool target_id(const struct cell *, char out[17]);

/* Whether every cell's target can be spawned; else a sentence in `why`. */
bool targets_are_there(const struct matrix *, char *why, size_t size);

#endif
