/* Where a new run goes. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/*
 * Makes the file `wanted`, or when that is NULL a new one in the folder of local runs, named by
 * date and matrix. Its path is put in `path`. False with a sentence in `why`.
 */
bool output_create(struct record *, const char *wanted, const char *matrix, char *path,
                   size_t path_size, char *why, size_t size);

#endif
