#include "random.h"

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void random_shuffle(uint64_t *state, size_t *order, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = random_next(state) % i, kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}
