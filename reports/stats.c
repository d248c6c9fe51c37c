#include "stats.h"

#include "memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 10000 };

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int by_value(const void *left, const void *right) {
    const struct observation *a = left, *b = right;
    return by_size(&a->value, &b->value);
}

double quantile(const double *values, size_t count, double p) {
    if (count == 0)
        return NAN;
    double *sorted = must(malloc(count * sizeof *sorted));
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    double rank = p * (double)(count - 1);
    size_t below = (size_t)rank;
    size_t above = below + 1 < count ? below + 1 : below;
    double value = sorted[below] + (rank - (double)below) * (sorted[above] - sorted[below]);
    free(sorted);
    return value;
}

/* The same quantile of sorted values, each counted as often as its round was drawn. */
static double drawn_quantile(const struct observation *sorted, size_t count, const size_t *drawn,
                             double p) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += drawn[sorted[i].round];
    double rank = p * (double)(total - 1);
    size_t below = (size_t)rank;
    double fraction = rank - (double)below;

    size_t i = 0, seen = drawn[sorted[0].round];
    while (seen <= below)
        seen += drawn[sorted[++i].round];
    double low = sorted[i].value;
    if (fraction <= 0)
        return low;
    while (seen <= below + 1)
        seen += drawn[sorted[++i].round];
    return low + fraction * (sorted[i].value - low);
}

/* splitmix64 by Sebastiano Vigna, public domain. */
static uint64_t random_bits(uint64_t *state) {
    uint64_t bits = (*state += 0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

static size_t random_below(uint64_t *state, size_t limit) {
    return (size_t)(((random_bits(state) >> 32) * limit) >> 32);
}

struct interval bootstrap(struct observation *values, size_t count, size_t rounds, double p) {
    if (count == 0)
        return (struct interval){NAN, NAN};
    uint64_t state = 1;
    size_t *drawn = must(malloc(rounds * sizeof *drawn));
    double *quantiles = must(malloc(RESAMPLES * sizeof *quantiles));
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < RESAMPLES; i++) {
        memset(drawn, 0, rounds * sizeof *drawn);
        for (size_t round = 0; round < rounds; round++)
            drawn[random_below(&state, rounds)]++;
        quantiles[i] = drawn_quantile(values, count, drawn, p);
    }
    struct interval interval = {quantile(quantiles, RESAMPLES, 0.025),
                                quantile(quantiles, RESAMPLES, 0.975)};
    free(quantiles);
    free(drawn);
    return interval;
}

struct line fit_line(const double *x, const double *y, size_t count) {
    double mean_x = 0, mean_y = 0, spread = 0, together = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        spread += (x[i] - mean_x) * (x[i] - mean_x);
        together += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (!(spread > 0))
        return (struct line){NAN, NAN};
    double slope = together / spread;
    return (struct line){.intercept = mean_y - slope * mean_x, .slope = slope};
}
