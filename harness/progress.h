/* What a run will take, and a bar on a terminal. All on stderr. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "matrix.h"

/* Rough: what the cells of one ballast take in one round, from the costs that the design names. */
double progress_seconds(const struct matrix *, uint64_t rss);

/* Cells, rounds, minutes and memory to come, in one line. */
void progress_announce(const struct matrix *, unsigned rounds);

/* Only on a terminal. A total of 0 wipes the bar. */
void progress_bar(unsigned done, unsigned total, double seconds);

#endif
