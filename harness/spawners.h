/* Threads that spawn at the same moment: made once for a chunk, released together for each sample.
 */
#ifndef SPAWNERS_H
#define SPAWNERS_H

#include "turn.h"

struct spawners;

/* NULL with errno when there is no memory or no thread. */
struct spawners *spawners_make(unsigned count);
void spawners_end(struct spawners *); /* NULL is fine */

/* Until each of them is ready for the next sample. */
void spawners_wait(struct spawners *);

/*
 * Every one of them takes a turn like this, with children of its own after each other in `born`.
 * Then it holds all of them: from the release to the last that has returned, or reaped.
 */
void spawners_take(struct spawners *, struct turn *);

#endif
