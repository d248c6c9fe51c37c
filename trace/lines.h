/* Creations as they happen, for people. */
#ifndef LINES_H
#define LINES_H

#include "creation.h"
#include "intervals.h"

/* The heads of the columns. */
void lines_begin(void);
/* `phases`: with them. */
void lines_print(const struct creation *, bool phases);
/* "fork < uv_spawn < main", at most so many names, or why nobody knows; wrapped behind `lead`. */
void lines_print_trail(const char *lead, const struct trail *, const char *why, size_t most);
/* "create 95 us, wake 180 us, ...": those that are known, with a note behind them. */
void lines_print_phases(const char *lead, const int64_t ns[INTERVALS], const char *note);
/* What to write in place of the fork that was printed. */
void lines_print_hint(const char *hint);

#endif
