/* The first line of a results file, and the line that goes on with one. */
#ifndef RUN_LINE_H
#define RUN_LINE_H

#include <jansson.h>

#include "matrix.h"

enum { SCHEMA = 2 };

json_t *run_line_make(const struct matrix *, unsigned rounds, uint64_t seed);
json_t *resume_line_make(unsigned rounds);

/* Sets what a block's line has of its ballast, that of this cell. */
void ballast_set(json_t *, const struct cell *);

/*
 * The matrix that a run line tells of, with texts that are the line's, its rounds and its seed.
 * False with a sentence in `why`. matrix_clear() ends the matrix in either case.
 */
bool run_line_read(json_t *line, struct matrix *, unsigned *rounds, uint64_t *seed, char *why,
                   size_t size);

/* Whether the cell's target has the very bytes that the run's had. */
bool run_line_has_target(json_t *line, size_t index, const struct cell *);

/* Whether figures from here and now may stand beside those of this run; else a sentence in `why`.
 */
bool run_line_fits_host(json_t *line, char *why, size_t size);

#endif
