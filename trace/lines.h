/* Creations as they happen, for people. */
#ifndef LINES_H
#define LINES_H

#include "creation.h"

/* The heads of the columns. */
void lines_begin(void);
void lines_print(const struct creation *);
/* "fork < uv_spawn < main", at most so many names, or why nobody knows; wrapped behind `lead`. */
void lines_print_trail(const char *lead, const struct trail *, const char *why, size_t most);
/* What to write in place of the fork that was printed. */
void lines_print_hint(const char *hint);

#endif
