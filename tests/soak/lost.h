/* What the process has, and what it had: the difference is lost. */
#ifndef LOST_H
#define LOST_H

#include <stdbool.h>
#include <stddef.h>

struct inventory {
    int descriptors, children, mappings;
    size_t bytes;
    long resident_kib;
    char state[8192]; /* dispositions, mask, cwd, umask, limits */
};

/* When nothing goes on. */
void inventory_take(struct inventory *);
/* Prints the four differences and the resident memory; says what is wrong, and whether nothing is
 * lost. */
bool inventory_compare(const struct inventory *before, const struct inventory *after);

#endif
