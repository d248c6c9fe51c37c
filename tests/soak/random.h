/* Random choices that a seed repeats. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r) {
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* From 0 to n - 1. */
static inline unsigned below(struct random *r, unsigned n) {
    return (unsigned)((random_next(r) >> 32) % n);
}

static inline bool chance(struct random *r, unsigned percent) {
    return below(r, 100) < percent;
}

#endif
