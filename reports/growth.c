#include "analysis.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

static const double GIB = 1 << 30;

/* Where lines do not cross: finite, so that a quantile may lie between it and a size. */
static const double NEVER = 1e30, LARGEST = 1e20;

/* The p50 of each size that was measured in a round. */
struct sizes {
    double *gib, *ns;
    size_t count;
};

static struct sizes sizes_for(const struct run *run) {
    return (struct sizes){.gib = must(malloc((run->cell_count + 1) * sizeof(double))),
                          .ns = must(malloc((run->cell_count + 1) * sizeof(double)))};
}

static void sizes_free(struct sizes *sizes) {
    free(sizes->gib);
    free(sizes->ns);
}

static void read_sizes(const struct run *run, const struct axes *axes, enum figure figure,
                       size_t round, struct sizes *sizes) {
    sizes->count = 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        const struct samples *samples = &cell->rounds[round].figures[figure];
        if (samples->count == 0 || !same_but_rss(cell, axes))
            continue;
        sizes->gib[sizes->count] = (double)cell->axes.rss / GIB;
        sizes->ns[sizes->count++] = quantile(samples->ns, samples->count, 0.5);
    }
}

/* One line a round; what each explains. */
static struct line *lines_by_round(const struct run *run, struct axes axes, enum figure figure,
                                   double *shares) {
    struct line *lines = must(malloc(run->rounds * sizeof *lines));
    struct sizes sizes = sizes_for(run);
    for (size_t round = 0; round < run->rounds; round++) {
        read_sizes(run, &axes, figure, round, &sizes);
        lines[round] = fit_line(sizes.gib, sizes.ns, sizes.count);
        if (shares)
            shares[round] = explained(lines[round], sizes.gib, sizes.ns, sizes.count);
    }
    sizes_free(&sizes);
    return lines;
}

static int64_t find_reach(const struct run *run, struct axes axes, enum figure figure) {
    int64_t reach = 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        if (cell->axes.rss > reach && same_but_rss(cell, &axes) &&
            count_samples(run, cell, figure) > 0)
            reach = cell->axes.rss;
    }
    return reach;
}

struct growth estimate_growth(const struct run *run, struct axes axes, enum figure figure) {
    double *shares = must(malloc(run->rounds * sizeof *shares));
    struct line *lines = lines_by_round(run, axes, figure, shares);
    double *intercepts = must(malloc(run->rounds * sizeof *intercepts));
    double *slopes = must(malloc(run->rounds * sizeof *slopes));
    for (size_t round = 0; round < run->rounds; round++) {
        intercepts[round] = lines[round].intercept;
        slopes[round] = lines[round].slope;
    }
    free(lines);
    return (struct growth){.intercept = estimate(intercepts, run->rounds),
                           .slope = estimate(slopes, run->rounds),
                           .explained = estimate(shares, run->rounds),
                           .reach = find_reach(run, axes, figure)};
}

struct estimate estimate_growth_ratio(const struct run *run, struct axes axes, struct axes over,
                                      enum figure figure) {
    struct line *lines = lines_by_round(run, axes, figure, NULL);
    struct line *divisors = lines_by_round(run, over, figure, NULL);
    double *ratios = must(malloc(run->rounds * sizeof *ratios));
    for (size_t round = 0; round < run->rounds; round++)
        ratios[round] = lines[round].slope / divisors[round].slope;
    free(divisors);
    free(lines);
    return estimate(ratios, run->rounds);
}

/* Between two sizes that were measured: what lies between their figures. Beyond them: from the
 * nearest on, with the slope of the line through all. */
static double interpolate(const struct sizes *sizes, double gib) {
    size_t below = sizes->count, above = sizes->count;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->gib[i] <= gib && (below == sizes->count || sizes->gib[i] > sizes->gib[below]))
            below = i;
        if (sizes->gib[i] >= gib && (above == sizes->count || sizes->gib[i] < sizes->gib[above]))
            above = i;
    }
    struct line line = fit_line(sizes->gib, sizes->ns, sizes->count);
    if (isnan(line.slope))
        return NAN;
    if (below == sizes->count || above == sizes->count) {
        size_t nearest = below == sizes->count ? above : below;
        return sizes->ns[nearest] + line.slope * (gib - sizes->gib[nearest]);
    }
    if (below == above)
        return sizes->ns[below];
    double part = (gib - sizes->gib[below]) / (sizes->gib[above] - sizes->gib[below]);
    return sizes->ns[below] + part * (sizes->ns[above] - sizes->ns[below]);
}

struct estimate estimate_at(const struct run *run, struct axes axes, enum figure figure,
                            int64_t rss) {
    struct sizes sizes = sizes_for(run);
    double *values = must(malloc(run->rounds * sizeof *values));
    for (size_t round = 0; round < run->rounds; round++) {
        read_sizes(run, &axes, figure, round, &sizes);
        values[round] = interpolate(&sizes, (double)rss / GIB);
    }
    sizes_free(&sizes);
    struct estimate result = estimate(values, run->rounds);
    if (result.rounds > 0)
        result.value = fmax(result.value, 0);
    if (result.rounds > 1)
        result.ci = (struct interval){fmax(result.ci.low, 0), fmax(result.ci.high, 0)};
    return result;
}

/* The size, not below 0, from which on the first line stays above the second. */
static double cross(struct line line, struct line other) {
    double above = line.intercept - other.intercept, steeper = line.slope - other.slope;
    if (isnan(above) || isnan(steeper))
        return NAN;
    if (!(steeper > 0))
        return steeper >= 0 && above > 0 ? 0 : NEVER;
    return fmax(0, fmin(NEVER, -above / steeper * GIB));
}

static double or_infinite(double size) {
    return size > LARGEST ? INFINITY : size;
}

struct estimate estimate_crossing(const struct run *run, struct axes axes, struct axes other,
                                  enum figure figure) {
    struct line *lines = lines_by_round(run, axes, figure, NULL);
    struct line *others = lines_by_round(run, other, figure, NULL);
    double *sizes = must(malloc(run->rounds * sizeof *sizes));
    for (size_t round = 0; round < run->rounds; round++)
        sizes[round] = cross(lines[round], others[round]);
    free(others);
    free(lines);
    struct estimate found = estimate(sizes, run->rounds);
    found.value = or_infinite(found.value);
    found.ci = (struct interval){or_infinite(found.ci.low), or_infinite(found.ci.high)};
    return found;
}
