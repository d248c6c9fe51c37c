/* What to write in place of a fork, by who called it: the file `hints`. */
#ifndef HINTS_H
#define HINTS_H

#include "creation.h"

struct hints;

/* Reads the file that ships. OK, or a complaint that names the file and the line. */
int hints_read(struct hints **);
void hints_free(struct hints *);
/* The first that fits; NULL: none. */
const char *hints_find(const struct hints *, const char *program, const struct trail *);

#endif
