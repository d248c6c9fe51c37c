/* What is said of each sample: the columns of a cell in results, of which those of a spawn come
 * first. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "sample.h"

struct column {
    const char *name;
    size_t offset; /* in struct sample */
    /* Whether a cell has it, whose target stamps or does not; NULL: each has. */
    bool (*has)(const struct cell *, bool has_stamps);
};

extern const struct column columns[];
extern const size_t column_count;

#endif
