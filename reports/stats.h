#pragma once

#include <stddef.h>

struct interval {
    double low;
    double high;
};

struct line {
    double intercept;
    double slope;
};

/* A value and the round that it was taken in; rounds are numbered from 0 without a hole. */
struct observation {
    double value;
    size_t round;
};

/* Type 7, the default of R and of Python's "inclusive"; NaN of no values. */
double quantile(const double *values, size_t count, double p);

/*
 * The 95% interval of quantile p of the pooled values, by the percentile bootstrap: whole rounds
 * are drawn with replacement, 10,000 times, always from the same seed. Sorts the values.
 */
struct interval bootstrap(struct observation *values, size_t count, size_t rounds, double p);

/* The same of how often such a quantile is that of others, over the same rounds: each resample
 * draws them for both. Sorts the values of both. */
struct interval bootstrap_ratio(struct observation *values, size_t count,
                                struct observation *others, size_t other_count, size_t rounds,
                                double p);

/* The same of how much more such a quantile is than that of others. */
struct interval bootstrap_difference(struct observation *values, size_t count,
                                     struct observation *others, size_t other_count, size_t rounds,
                                     double p);

/* Least squares; NaN when the points do not have two different x. */
struct line fit_line(const double *x, const double *y, size_t count);

/* R squared, the share of the spread of y that the line explains; NaN of fewer than three points.
 */
double explained(struct line line, const double *x, const double *y, size_t count);

/* Moves the finite numbers to the front, in their order. How many. */
size_t keep_finite(double *values, size_t count);
