#include "stats.h"

#include "memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 10000, MOST_KEPT = 100 };

static int by_value(const void *left, const void *right) {
    const struct observation *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Moves what belongs at `place` in ascending order there, less before it and more behind it. */
static double settle(double *values, size_t count, size_t place) {
    size_t first = 0, last = count - 1;
    while (first < last) {
        double middle = values[first + (last - first) / 2];
        size_t left = first, right = last;
        while (left <= right) {
            while (values[left] < middle)
                left++;
            while (values[right] > middle)
                right--;
            if (left > right)
                break;
            double moved = values[left];
            values[left++] = values[right];
            values[right] = moved;
            if (right == 0)
                break;
            right--;
        }
        if (place <= right)
            last = right;
        else if (place >= left)
            first = left;
        else
            break;
    }
    return values[place];
}

/* Changes their order. */
static double settled_quantile(double *values, size_t count, double p) {
    double rank = p * (double)(count - 1);
    size_t below = (size_t)rank;
    double low = settle(values, count, below), high = low;
    if (below + 1 < count)
        high = values[below + 1];
    for (size_t i = below + 2; i < count; i++)
        high = values[i] < high ? values[i] : high;
    return low + (rank - (double)below) * (high - low);
}

double quantile(const double *values, size_t count, double p) {
    if (count == 0)
        return NAN;
    if (count == 1)
        return values[0];
    double *copy = must(malloc(count * sizeof *copy));
    memcpy(copy, values, count * sizeof *copy);
    double value = settled_quantile(copy, count, p);
    free(copy);
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

/* The quantile of each resample. */
static void resample(const struct observation *sorted, size_t count, size_t rounds, double p,
                     double *quantiles) {
    uint64_t state = 1;
    size_t *drawn = must(malloc(rounds * sizeof *drawn));
    for (size_t i = 0; i < RESAMPLES; i++) {
        memset(drawn, 0, rounds * sizeof *drawn);
        for (size_t round = 0; round < rounds; round++)
            drawn[random_below(&state, rounds)]++;
        quantiles[i] = drawn_quantile(sorted, count, drawn, p);
    }
    free(drawn);
}

/*
 * How often each of so many rounds is in each resample; all of a round lie together. The seed is
 * always the same, and a run has thousands of intervals of the same number of rounds: it is kept.
 */
static const uint8_t *draws_of(size_t rounds) {
    static uint8_t draws[MOST_KEPT][RESAMPLES];
    static size_t kept;
    if (rounds == kept)
        return draws[0];
    kept = rounds;
    memset(draws, 0, rounds * sizeof *draws);
    uint64_t state = 1;
    for (size_t i = 0; i < RESAMPLES; i++)
        for (size_t round = 0; round < rounds; round++)
            draws[random_below(&state, rounds)][i]++;
    return draws[0];
}

/* The same of one value a round, all resamples at once. */
static void resample_single(const struct observation *sorted, size_t rounds, double p,
                            double *quantiles) {
    static uint8_t seen[RESAMPLES], low[RESAMPLES], high[RESAMPLES];
    double rank = p * (double)(rounds - 1);
    uint8_t below = (uint8_t)rank;
    double fraction = rank - below;
    const uint8_t *draws = draws_of(rounds);
    memset(seen, 0, sizeof seen);
    memset(low, 0, sizeof low);
    memset(high, 0, sizeof high);
    for (size_t place = 0; place < rounds; place++) {
        const uint8_t *times = draws + sorted[place].round * RESAMPLES;
        for (size_t i = 0; i < RESAMPLES; i++) {
            seen[i] = (uint8_t)(seen[i] + times[i]);
            low[i] = (uint8_t)(low[i] + (seen[i] <= below));
            high[i] = (uint8_t)(high[i] + (seen[i] <= below + 1));
        }
    }
    for (size_t i = 0; i < RESAMPLES; i++) {
        double value = sorted[low[i]].value;
        quantiles[i] = fraction > 0 ? value + fraction * (sorted[high[i]].value - value) : value;
    }
}

struct interval bootstrap(struct observation *values, size_t count, size_t rounds, double p) {
    if (count == 0)
        return (struct interval){NAN, NAN};
    double *quantiles = must(malloc(RESAMPLES * sizeof *quantiles));
    qsort(values, count, sizeof *values, by_value);
    if (count == rounds && rounds <= MOST_KEPT)
        resample_single(values, rounds, p, quantiles);
    else
        resample(values, count, rounds, p, quantiles);
    struct interval interval = {settled_quantile(quantiles, RESAMPLES, 0.025),
                                settled_quantile(quantiles, RESAMPLES, 0.975)};
    free(quantiles);
    return interval;
}

static double ratio(double value, double other) {
    return value / other;
}

static double difference(double value, double other) {
    return value - other;
}

static struct interval bootstrap_both(struct observation *values, size_t count,
                                      struct observation *others, size_t other_count, size_t rounds,
                                      double p, double (*compare)(double, double)) {
    if (count == 0 || other_count == 0)
        return (struct interval){NAN, NAN};
    double *quantiles = must(malloc(RESAMPLES * sizeof *quantiles));
    double *other_quantiles = must(malloc(RESAMPLES * sizeof *other_quantiles));
    qsort(values, count, sizeof *values, by_value);
    qsort(others, other_count, sizeof *others, by_value);
    resample(values, count, rounds, p, quantiles);
    resample(others, other_count, rounds, p, other_quantiles);
    for (size_t i = 0; i < RESAMPLES; i++)
        quantiles[i] = compare(quantiles[i], other_quantiles[i]);
    free(other_quantiles);
    struct interval interval = {settled_quantile(quantiles, RESAMPLES, 0.025),
                                settled_quantile(quantiles, RESAMPLES, 0.975)};
    free(quantiles);
    return interval;
}

struct interval bootstrap_ratio(struct observation *values, size_t count,
                                struct observation *others, size_t other_count, size_t rounds,
                                double p) {
    return bootstrap_both(values, count, others, other_count, rounds, p, ratio);
}

struct interval bootstrap_difference(struct observation *values, size_t count,
                                     struct observation *others, size_t other_count, size_t rounds,
                                     double p) {
    return bootstrap_both(values, count, others, other_count, rounds, p, difference);
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

double explained(struct line line, const double *x, const double *y, size_t count) {
    double mean = 0, spread = 0, left = 0;
    for (size_t i = 0; i < count; i++)
        mean += y[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double miss = y[i] - line.intercept - line.slope * x[i];
        spread += (y[i] - mean) * (y[i] - mean);
        left += miss * miss;
    }
    return spread > 0 && count > 2 ? 1 - left / spread : NAN;
}

size_t keep_finite(double *values, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[kept++] = values[i];
    return kept;
}
