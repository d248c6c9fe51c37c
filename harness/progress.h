/* What a run will take, and a bar on a terminal. All on stderr. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "matrix.h"

/* Cells, rounds, minutes and memory to come, in one line. */
void progress_announce(const struct matrix *, unsigned rounds);

/* Only on a terminal. A total of 0 wipes the bar. */
void progress_bar(unsigned done, unsigned total, double seconds);

#endif
