#include "analysis.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GIB = 1 << 30;

const double NEVER = 1e30;
static const double LARGEST = 9e18;

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

bool tells_growth(const struct growth *growth) {
    return growth->slope.rounds > 1 && growth->slope.ci.low > 0;
}

/*
 * What is not known to grow is not drawn on: it would fall to 0, or rise, by chance alone. But it
 * may grow as fast as its slope's interval allows.
 */
struct estimate estimate_at(const struct run *run, struct axes axes, enum figure figure,
                            int64_t rss) {
    struct growth growth = estimate_growth(run, axes, figure);
    double more = 0;
    if (rss > growth.reach && growth.slope.rounds > 1 && !tells_growth(&growth)) {
        more = fmax(0, growth.slope.ci.high) * (double)(rss - growth.reach) / GIB;
        rss = growth.reach;
    }
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
        result.ci = (struct interval){fmax(result.ci.low, 0),
                                      fmax(0, fmax(result.ci.high, result.value + more))};
    return result;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/*
 * The size in bytes from which on the first is larger than the second, as far as both were measured
 * and beyond. Between their sizes both are what lies between the measured figures: a line through
 * all would say of small parents what the largest made of it.
 */
static double cross(const struct sizes *first, const struct sizes *second) {
    struct line line = fit_line(first->gib, first->ns, first->count),
                other = fit_line(second->gib, second->ns, second->count);
    if (isnan(line.slope) || isnan(other.slope))
        return NAN;
    size_t count = first->count + second->count, last = count - 1;
    double *gib = must(malloc(count * sizeof *gib));
    memcpy(gib, first->gib, first->count * sizeof *gib);
    memcpy(gib + first->count, second->gib, second->count * sizeof *gib);
    qsort(gib, count, sizeof *gib, by_size);
    double size = 0, above = interpolate(first, gib[last]) - interpolate(second, gib[last]);
    if (!(above > 0)) {
        double steeper = line.slope - other.slope;
        size = steeper > 0 ? fmin(NEVER, (gib[last] - above / steeper) * GIB) : NEVER;
    }
    for (size_t i = last; above > 0 && i-- > 0;) {
        double before = interpolate(first, gib[i]) - interpolate(second, gib[i]);
        if (!(before > 0)) {
            size = (gib[i] + (gib[i + 1] - gib[i]) * before / (before - above)) * GIB;
            break;
        }
        above = before;
    }
    free(gib);
    return size;
}

static double or_infinite(double place) {
    return place > LARGEST ? INFINITY : place;
}

struct estimate estimate_or_never(double *values, size_t rounds) {
    struct estimate found = estimate(values, rounds);
    found.value = or_infinite(found.value);
    found.ci = (struct interval){or_infinite(found.ci.low), or_infinite(found.ci.high)};
    return found;
}

struct estimate estimate_crossing(const struct run *run, struct axes axes, struct axes other,
                                  enum figure figure) {
    struct sizes first = sizes_for(run), second = sizes_for(run);
    double *sizes = must(malloc(run->rounds * sizeof *sizes));
    for (size_t round = 0; round < run->rounds; round++) {
        read_sizes(run, &axes, figure, round, &first);
        read_sizes(run, &other, figure, round, &second);
        sizes[round] = cross(&first, &second);
    }
    sizes_free(&second);
    sizes_free(&first);
    return estimate_or_never(sizes, run->rounds);
}
