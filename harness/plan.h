/* What a run will take, before it is run. */
#ifndef PLAN_H
#define PLAN_H

#include "matrix.h"

/* Whether a block with the ballast of this cell fits into the memory that is there now; else a
 * sentence. */
bool plan_fits(const struct matrix *, const struct cell *like, char *why, size_t size);

/* Seconds after which the block of this cell has surely gone wrong. */
unsigned plan_deadline(const struct matrix *, const struct cell *like);

/* Whether one cell at least does, beside the null cell. */
bool plan_fits_at_all(const struct matrix *, char *why, size_t size);

/* "49 cells, 8 rounds, about 2.1 minutes, at most 4.1 GiB of memory" */
void plan_sentence(const struct matrix *, unsigned rounds, char *out, size_t size);

/* All that is known of it, on standard output. */
void plan_print(const struct matrix *, unsigned rounds);

/* The matrices that ship and the attributes, or the names of a matrix's cells, on standard output.
 */
void plan_list_matrices(void);
void plan_list_cells(const struct matrix *);

#endif
