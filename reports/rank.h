#pragma once

#include "stats.h"

/*
 * By how much two sets of values differ, without a guess at how they are distributed: the
 * Hodges-Lehmann shift, its 95% interval, and the two-sided p of the rank test that both belong to.
 */
struct shift {
    double value;       /* NaN of no values */
    struct interval ci; /* NaN where the values are too few for 95% */
    double p;           /* 1 of no values */
};

/* Of b against a. Mann-Whitney: exact where there are few values and no ties, else normal. */
struct shift shift_between(const double *a, size_t a_count, const double *b, size_t b_count);

/* Of differences within pairs. Wilcoxon's signed ranks: exact for up to 60 pairs, ties included. */
struct shift shift_of_pairs(const double *differences, size_t count);

/* The least p that so many values can give. */
double least_p(size_t a_count, size_t b_count);
double least_p_of_pairs(size_t count);

/* Adjusts the p of several tests, so that one false alarm among all of them has the p it says. */
void holm(double *p, size_t count);
