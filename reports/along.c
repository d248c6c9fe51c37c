#include "along.h"

#include "further.h"
#include "judge.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a cell is like another but for the axis, of which it has `value`. */
static bool is_along(const struct cell *cell, const struct cell *like, const char *axis,
                     double *value) {
    const char *own = further_value(cell->axes.more, axis);
    char *rest = further_without(like->axes.more, axis);
    char *others = further_without(cell->axes.more, axis);
    struct axes axes = like->axes;
    axes.more = cell->axes.more;
    *value = own ? strtod(own, NULL) : 0;
    bool is = !strcmp(rest, others) && cell->axes.rss == axes.rss && same_but_rss(cell, &axes);
    free(others);
    free(rest);
    return is;
}

static struct line *lines_along(const struct run *run, const char *axis, const struct cell *like,
                                enum figure figure) {
    struct line *lines = must(malloc(run->rounds * sizeof *lines));
    double *x = must(malloc((run->cell_count + 1) * sizeof *x));
    double *y = must(malloc((run->cell_count + 1) * sizeof *y));
    for (size_t round = 0; round < run->rounds; round++) {
        size_t count = 0;
        for (size_t i = 0; i < run->cell_count; i++) {
            const struct samples *samples = &run->cells[i].rounds[round].figures[figure];
            if (samples->count == 0 || !is_along(&run->cells[i], like, axis, &x[count]))
                continue;
            y[count++] = quantile(samples->ns, samples->count, 0.5);
        }
        lines[round] = fit_line(x, y, count);
    }
    free(y);
    free(x);
    return lines;
}

static double *slopes_along(const struct run *run, const char *axis, const struct cell *like,
                            enum figure figure) {
    struct line *lines = lines_along(run, axis, like, figure);
    double *slopes = must(malloc(run->rounds * sizeof *slopes));
    for (size_t round = 0; round < run->rounds; round++)
        slopes[round] = lines[round].slope;
    free(lines);
    return slopes;
}

struct estimate estimate_slope_along(const struct run *run, const char *axis,
                                     const struct cell *cell, enum figure figure) {
    return estimate(slopes_along(run, axis, cell, figure), run->rounds);
}

struct estimate estimate_ratio_along(const struct run *run, const char *axis,
                                     const struct cell *cell, const struct cell *over,
                                     enum figure figure) {
    double *ratios = slopes_along(run, axis, cell, figure);
    double *divisors = slopes_along(run, axis, over, figure);
    for (size_t round = 0; round < run->rounds; round++)
        ratios[round] /= divisors[round];
    free(divisors);
    return estimate(ratios, run->rounds);
}

static double cross(struct line line, struct line other) {
    double faster = line.slope - other.slope, behind = other.intercept - line.intercept;
    if (isnan(faster))
        return NAN;
    if (faster > 0)
        return fmin(NEVER, behind / faster);
    return behind < 0 ? -1 : NEVER;
}

struct estimate estimate_crossing_along(const struct run *run, const char *axis,
                                        const struct cell *cell, const struct cell *other,
                                        enum figure figure) {
    struct line *lines = lines_along(run, axis, cell, figure);
    struct line *others = lines_along(run, axis, other, figure);
    double *values = must(malloc(run->rounds * sizeof *values));
    for (size_t round = 0; round < run->rounds; round++)
        values[round] = cross(lines[round], others[round]);
    free(others);
    free(lines);
    return estimate_or_never(values, run->rounds);
}

char *single_axis(const struct cell *cell) {
    const char *more = cell->axes.more;
    if (!*more || strchr(more, '/') || is_simulated(cell))
        return NULL;
    return must(strndup(more, strcspn(more, ":")));
}

const struct cell **find_along(const struct run *run, const char *axis, const struct cell *like,
                               size_t *count) {
    const struct cell **cells = must(calloc(run->cell_count + 1, sizeof *cells));
    double value;
    *count = 0;
    for (int with = 0; with < 2; with++)
        for (size_t i = 0; i < run->cell_count; i++) {
            const struct cell *cell = &run->cells[i];
            if (is_along(cell, like, axis, &value) && !!*cell->axes.more == with &&
                !is_simulated(cell))
                cells[(*count)++] = cell;
        }
    return cells;
}
