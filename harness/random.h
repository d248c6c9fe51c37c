/* splitmix64: every order in a run follows from its seed, on every machine. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint64_t random_next(uint64_t *state);

/* Fisher and Yates over the numbers in `order`. */
void random_shuffle(uint64_t *state, size_t *order, size_t count);

#endif
