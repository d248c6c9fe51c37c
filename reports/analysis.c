#include "analysis.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_null(const struct cell *cell) {
    return !strcmp(cell->axes.strategy, "null");
}

bool is_floor(const struct cell *cell) {
    return !strncmp(cell->axes.strategy, "floor_", strlen("floor_"));
}

bool is_plain(const struct cell *cell) {
    return cell->axes.fds == 0 && cell->axes.spawners == 1 &&
           !strcmp(cell->axes.attributes, NO_ATTRIBUTES) && !cell->axes.more[0];
}

static bool has_but_rss(const struct cell *cell, const struct axes *axes) {
    return cell->axes.gap == axes->gap && cell->axes.at_once == axes->at_once &&
           cell->axes.fds == axes->fds && cell->axes.spawners == axes->spawners &&
           !strcmp(cell->axes.strategy, axes->strategy) &&
           !strcmp(cell->axes.attributes, axes->attributes) &&
           !strcmp(cell->axes.target, axes->target) && !strcmp(cell->axes.more, axes->more);
}

bool same_but_rss(const struct cell *cell, const struct axes *axes) {
    return !strncmp(cell->name, "spawn/", strlen("spawn/")) && has_but_rss(cell, axes);
}

static bool same_case(const struct cell *a, const struct cell *b) {
    size_t length = strcspn(a->name, "/");
    return length == strcspn(b->name, "/") && !strncmp(a->name, b->name, length);
}

bool same_block(const struct cell *a, const struct cell *b) {
    struct axes axes = a->axes;
    axes.strategy = b->axes.strategy;
    return same_case(a, b) && a->axes.rss == b->axes.rss && has_but_rss(b, &axes);
}

const struct cell *find_cell(const struct run *run, struct axes axes) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].axes.rss == axes.rss && same_but_rss(&run->cells[i], &axes))
            return &run->cells[i];
    return NULL;
}

const struct cell *find_null(const struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++)
        if (is_null(&run->cells[i]) && is_plain(&run->cells[i]))
            return &run->cells[i];
    return NULL;
}

double *by_round(const struct run *run, const struct cell *cell, enum figure figure, double p) {
    double *values = must(malloc(run->rounds * sizeof *values));
    for (size_t round = 0; round < run->rounds; round++) {
        values[round] = NAN;
        if (cell) {
            const struct samples *samples = &cell->rounds[round].figures[figure];
            values[round] = quantile(samples->ns, samples->count, p);
        }
    }
    return values;
}

struct estimate estimate(double *values, size_t rounds) {
    size_t count = keep_finite(values, rounds);
    struct estimate result = {
        .rounds = count, .value = quantile(values, count, 0.5), .ci = {NAN, NAN}};
    if (count >= 2) {
        struct observation *observations = must(malloc(count * sizeof *observations));
        for (size_t i = 0; i < count; i++)
            observations[i] = (struct observation){.value = values[i], .round = i};
        result.ci = bootstrap(observations, count, count, 0.5);
        free(observations);
    }
    free(values);
    return result;
}

double median(const struct run *run, const struct cell *cell, enum figure figure) {
    double *values = by_round(run, cell, figure, 0.5);
    double middle = quantile(values, keep_finite(values, run->rounds), 0.5);
    free(values);
    return middle;
}

struct estimate estimate_figure(const struct run *run, const struct cell *cell,
                                enum figure figure) {
    return estimate(by_round(run, cell, figure, 0.5), run->rounds);
}

struct estimate estimate_difference(const struct run *run, const struct cell *cell,
                                    const struct cell *less, enum figure figure) {
    double *values = by_round(run, cell, figure, 0.5);
    double *subtracted = by_round(run, less, figure, 0.5);
    for (size_t round = 0; round < run->rounds; round++)
        values[round] -= subtracted[round];
    free(subtracted);
    return estimate(values, run->rounds);
}

struct estimate estimate_within(const struct run *run, const struct cell *cell, enum figure figure,
                                enum figure less) {
    double *values = must(malloc(run->rounds * sizeof *values));
    for (size_t round = 0; round < run->rounds; round++) {
        const struct samples *figures = cell->rounds[round].figures;
        const struct samples *from = &figures[figure], *subtracted = &figures[less];
        size_t count = from->count < subtracted->count ? from->count : subtracted->count;
        double *differences = must(malloc((count + 1) * sizeof *differences));
        for (size_t i = 0; i < count; i++)
            differences[i] = from->ns[i] - subtracted->ns[i];
        values[round] = quantile(differences, count, 0.5);
        free(differences);
    }
    return estimate(values, run->rounds);
}

/* People choose from these. */
static bool is_ranked(const struct cell *cell) {
    return !is_null(cell) && !is_floor(cell);
}

/* Whether one strategy is less than another beyond doubt. The bootstrap is dear, and is needed only
 * where the rounds are of two minds. */
static bool is_surely_less(const struct run *run, const struct cell *less, const struct cell *cell,
                           enum figure figure) {
    double *differences = by_round(run, cell, figure, 0.5);
    double *others = by_round(run, less, figure, 0.5);
    for (size_t round = 0; round < run->rounds; round++)
        differences[round] -= others[round];
    free(others);
    size_t count = keep_finite(differences, run->rounds), above = 0;
    for (size_t i = 0; i < count; i++)
        above += differences[i] > 0;
    bool is_split = above < count && 2 * above > count;
    bool surely =
        count >= ROUNDS_TO_RELY_ON &&
        (above == count || (is_split && estimate_difference(run, cell, less, figure).ci.low > 0));
    free(differences);
    return surely;
}

size_t rank_of(const struct run *run, const struct cell *cell, enum figure figure) {
    size_t rounds = 0, rank = 1;
    for (size_t round = 0; round < run->rounds; round++)
        rounds += cell->rounds[round].figures[figure].count > 0;
    if (!is_ranked(cell) || rounds < ROUNDS_TO_RELY_ON)
        return 0;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *other = &run->cells[i];
        rank += other != cell && is_ranked(other) && same_block(other, cell) &&
                is_surely_less(run, other, cell, figure);
    }
    return rank;
}

/* n >= 5 / (1 - p), but for the rounding of 1 - p. */
bool enough_for(size_t samples, double p) {
    return (double)samples * (1 - p) > 5 - 1e-6;
}

size_t count_samples(const struct run *run, const struct cell *cell, enum figure figure) {
    size_t count = 0;
    for (size_t round = 0; round < run->rounds; round++)
        count += cell->rounds[round].figures[figure].count;
    return count;
}

struct pool {
    size_t count, rounds;
    struct observation *values;
};

/* All samples of the cell in rounds that have some of it and of the other; these are numbered. */
static struct pool pool(const struct run *run, const struct cell *cell, const struct cell *other,
                        enum figure figure) {
    struct pool all = {.count = 0};
    all.values = must(calloc(count_samples(run, cell, figure) + 1, sizeof *all.values));
    for (size_t round = 0; round < run->rounds; round++) {
        const struct samples *samples = &cell->rounds[round].figures[figure];
        if (samples->count == 0 || other->rounds[round].figures[figure].count == 0)
            continue;
        for (size_t i = 0; i < samples->count; i++)
            all.values[all.count++] =
                (struct observation){.value = samples->ns[i], .round = all.rounds};
        all.rounds++;
    }
    return all;
}

static double pooled_quantile(const struct pool *all, double p) {
    double *values = must(malloc((all->count + 1) * sizeof *values));
    for (size_t i = 0; i < all->count; i++)
        values[i] = all->values[i].value;
    double value = quantile(values, all->count, p);
    free(values);
    return value;
}

struct tail tail(const struct run *run, const struct cell *cell, enum figure figure, double p) {
    struct pool all = pool(run, cell, cell, figure);
    bool enough = enough_for(all.count, p);
    double ns = pooled_quantile(&all, enough ? p : 1);
    free(all.values);
    return (struct tail){.ns = ns, .is_maximum = !enough};
}

struct estimate estimate_percentile_within(const struct run *run, const struct cell *cell,
                                           enum figure figure, enum figure less, double p) {
    struct pool all = pool(run, cell, cell, figure), others = pool(run, cell, cell, less);
    struct estimate result = {.rounds = all.rounds,
                              .value = pooled_quantile(&all, p) - pooled_quantile(&others, p),
                              .ci = {NAN, NAN}};
    if (others.rounds != all.rounds) /* of a run that went on with another version */
        result.rounds = 0;
    if (result.rounds >= 2)
        result.ci =
            bootstrap_difference(all.values, all.count, others.values, others.count, all.rounds, p);
    free(all.values);
    free(others.values);
    return result;
}

static bool enough_each_round(const struct run *run, const struct cell *cell, enum figure figure,
                              double p) {
    for (size_t round = 0; round < run->rounds; round++) {
        size_t count = cell->rounds[round].figures[figure].count;
        if (count > 0 && !enough_for(count, p))
            return false;
    }
    return true;
}

struct estimate estimate_percentile(const struct run *run, const struct cell *cell,
                                    enum figure figure, double p) {
    if (p <= 0.5 || enough_each_round(run, cell, figure, p))
        return estimate(by_round(run, cell, figure, p), run->rounds);
    struct pool all = pool(run, cell, cell, figure);
    struct estimate result = {.rounds = all.rounds, .value = pooled_quantile(&all, p)};
    result.ci = all.rounds < 2 ? (struct interval){NAN, NAN}
                               : bootstrap(all.values, all.count, all.rounds, p);
    free(all.values);
    return result;
}

static struct estimate ratio_by_round(const struct run *run, const struct cell *cell,
                                      const struct cell *over, enum figure figure, double p) {
    double *values = by_round(run, cell, figure, p);
    double *divisors = by_round(run, over, figure, p);
    for (size_t round = 0; round < run->rounds; round++)
        values[round] /= divisors[round];
    free(divisors);
    return estimate(values, run->rounds);
}

struct estimate estimate_ratio(const struct run *run, const struct cell *cell,
                               const struct cell *over, enum figure figure) {
    return ratio_by_round(run, cell, over, figure, 0.5);
}

struct estimate estimate_percentile_ratio(const struct run *run, const struct cell *cell,
                                          const struct cell *over, enum figure figure, double p) {
    if (p <= 0.5 ||
        (enough_each_round(run, cell, figure, p) && enough_each_round(run, over, figure, p)))
        return ratio_by_round(run, cell, over, figure, p);
    struct pool all = pool(run, cell, over, figure), others = pool(run, over, cell, figure);
    struct estimate result = {.rounds = all.rounds,
                              .value = pooled_quantile(&all, p) / pooled_quantile(&others, p)};
    result.ci = all.rounds < 2 ? (struct interval){NAN, NAN}
                               : bootstrap_ratio(all.values, all.count, others.values, others.count,
                                                 all.rounds, p);
    free(all.values);
    free(others.values);
    return result;
}

struct noise noise(const struct run *run) {
    if (run->block_count == 0)
        return (struct noise){.known = false};
    double *loads = must(malloc(run->block_count * sizeof *loads));
    double seconds = 0, stolen = 0, others = 0;
    for (size_t i = 0; i < run->block_count; i++) {
        seconds += run->blocks[i].seconds;
        stolen += run->blocks[i].seconds * run->blocks[i].steal;
        others += run->blocks[i].seconds * run->blocks[i].other;
        loads[i] = run->blocks[i].load;
    }
    struct noise result = {.known = true,
                           .steal = seconds > 0 ? stolen / seconds : 0,
                           .other = seconds > 0 ? others / seconds : 0,
                           .load = quantile(loads, run->block_count, 0.5)};
    result.high = result.steal > 0.01 || result.load > 1 + (double)run->host.cpus / 4 ||
                  count_disturbed(run) * 10 >= run->block_count;
    free(loads);
    return result;
}

size_t count_disturbed(const struct run *run) {
    size_t count = 0;
    for (size_t i = 0; i < run->block_count; i++)
        count += run->blocks[i].disturbed != NULL;
    return count;
}

size_t count_rounds(const struct run *run, const struct cell *cell) {
    size_t count = 0;
    for (size_t round = 0; round < run->rounds; round++)
        count += cell->rounds[round].state == MEASURED;
    return count;
}

size_t count_state(const struct run *run, enum state state) {
    size_t count = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        for (size_t round = 0; round < rounds_asked(run, &run->cells[i]); round++)
            count += run->cells[i].rounds[round].state == state;
    return count;
}

size_t rounds_asked(const struct run *run, const struct cell *cell) {
    size_t asked = (size_t)cell->asked;
    return asked && asked < run->rounds ? asked : run->rounds;
}
