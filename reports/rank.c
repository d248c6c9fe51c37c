#include "rank.h"

#include "memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_PRODUCT = 400, EXACT_PAIRS = 60, HALVINGS = 200 };

static const double Z_95 = 1.959963984540054;

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double *sorted_copy(const double *values, size_t count) {
    double *sorted = must(malloc((count + 1) * sizeof *sorted));
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return sorted;
}

/* All differences of two sorted sets, or all averages of two of one set; they are never listed. */
struct pairs {
    const double *a; /* NULL: averages within b */
    size_t a_count;
    const double *b;
    size_t b_count;
};

static size_t count_all(const struct pairs *pairs) {
    return pairs->a ? pairs->a_count * pairs->b_count : pairs->b_count * (pairs->b_count + 1) / 2;
}

/* How many of them are at most `limit`. */
static size_t count_up_to(const struct pairs *pairs, double limit) {
    const double *b = pairs->b;
    size_t count = 0, reach = pairs->a ? 0 : pairs->b_count;
    if (pairs->a) {
        for (size_t i = 0; i < pairs->a_count; i++) {
            while (reach < pairs->b_count && b[reach] - pairs->a[i] <= limit)
                reach++;
            count += reach;
        }
        return count;
    }
    for (size_t i = 0; i < pairs->b_count; i++) {
        while (reach > i && (b[i] + b[reach - 1]) / 2 > limit)
            reach--;
        count += reach > i ? reach - i : 0;
    }
    return count;
}

/* The one at this place, from 1, in ascending order. */
static double find_place(const struct pairs *pairs, size_t place) {
    const double *b = pairs->b;
    double low = pairs->a ? b[0] - pairs->a[pairs->a_count - 1] : b[0];
    double high = pairs->a ? b[pairs->b_count - 1] - pairs->a[0] : b[pairs->b_count - 1];
    if (count_up_to(pairs, low) >= place)
        return low;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (count_up_to(pairs, middle) >= place)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* `beyond`: how many of them an end of the interval has on its far side, itself included. */
static void fill_shift(struct shift *shift, const struct pairs *pairs, size_t beyond) {
    size_t all = count_all(pairs);
    shift->value = find_place(pairs, (all + 1) / 2);
    if (all % 2 == 0)
        shift->value = (shift->value + find_place(pairs, all / 2 + 1)) / 2;
    if (beyond > 0)
        shift->ci =
            (struct interval){find_place(pairs, beyond), find_place(pairs, all - beyond + 1)};
}

/* How likely each sum is of `chosen` different ranks of 1 to `all`, less the least that it can be.
 */
static double *rank_sums(size_t all, size_t chosen) {
    size_t most = chosen * (all - chosen);
    double *ways = must(calloc((chosen + 1) * (most + 1), sizeof *ways));
    ways[0] = 1;
    /* A rank r taken as the k-th smallest lies r - k above the least. */
    for (size_t rank = 1; rank <= all; rank++)
        for (size_t k = rank < chosen ? rank : chosen; k > 0; k--)
            for (size_t sum = rank - k; sum <= most; sum++)
                ways[k * (most + 1) + sum] += ways[(k - 1) * (most + 1) + sum - (rank - k)];
    memmove(ways, ways + chosen * (most + 1), (most + 1) * sizeof *ways);
    double total = 0;
    for (size_t sum = 0; sum <= most; sum++)
        total += ways[sum];
    for (size_t sum = 0; sum <= most; sum++)
        ways[sum] /= total;
    return ways;
}

/* How likely each sum is of weights of which each is in it or not, for even odds. */
static double *weight_sums(const size_t *weights, size_t count, size_t most) {
    double *odds = must(calloc(most + 1, sizeof *odds));
    odds[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t sum = most + 1; sum-- > 0;)
            odds[sum] = (odds[sum] + (sum >= weights[i] ? odds[sum - weights[i]] : 0)) / 2;
    return odds;
}

/* The least sum that is not below the lower 2.5% of the distribution. */
static size_t lower_end(const double *odds, size_t most) {
    double below = 0;
    for (size_t sum = 0; sum <= most; sum++) {
        below += odds[sum];
        if (below >= 0.025 * (1 + 1e-12))
            return sum;
    }
    return most;
}

static double two_sided(const double *odds, size_t most, size_t found) {
    double up_to = 0, from = 0;
    for (size_t sum = 0; sum <= most; sum++) {
        up_to += sum <= found ? odds[sum] : 0;
        from += sum >= found ? odds[sum] : 0;
    }
    return fmin(1, 2 * fmin(up_to, from));
}

/* With the correction for steps of a half or a whole. */
static double two_sided_normal(double distance, double variance) {
    return variance > 0 ? fmin(1, erfc(fmax(0, fabs(distance) - 0.5) / sqrt(2 * variance))) : 1;
}

static size_t lower_end_normal(double mean, double variance) {
    double end = floor(mean - Z_95 * sqrt(variance));
    return end > 0 ? (size_t)end : 0;
}

/* The sum of t^3 - t over the sets of t equal values. */
static double weigh_ties(const double *sorted, size_t count) {
    double weight = 0;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && sorted[next] <= sorted[first]; next++)
            ;
        double tied = (double)(next - first);
        weight += tied * tied * tied - tied;
    }
    return weight;
}

static double weigh_ties_of_both(const struct pairs *pairs) {
    size_t count = pairs->a_count + pairs->b_count;
    double *both = must(malloc(count * sizeof *both));
    memcpy(both, pairs->a, pairs->a_count * sizeof *both);
    memcpy(both + pairs->a_count, pairs->b, pairs->b_count * sizeof *both);
    qsort(both, count, sizeof *both, by_size);
    double weight = weigh_ties(both, count);
    free(both);
    return weight;
}

/* Twice Mann-Whitney's U: of all pairs, those whose b is larger, and half of those that are equal.
 */
static size_t twice_u(const struct pairs *pairs) {
    size_t twice = 0, below = 0, up_to = 0;
    for (size_t i = 0; i < pairs->b_count; i++) {
        while (below < pairs->a_count && pairs->a[below] < pairs->b[i])
            below++;
        while (up_to < pairs->a_count && pairs->a[up_to] <= pairs->b[i])
            up_to++;
        twice += below + up_to;
    }
    return twice;
}

struct shift shift_between(const double *a, size_t a_count, const double *b, size_t b_count) {
    struct shift shift = {.value = NAN, .ci = {NAN, NAN}, .p = 1};
    if (a_count == 0 || b_count == 0)
        return shift;
    double *left = sorted_copy(a, a_count), *right = sorted_copy(b, b_count);
    struct pairs pairs = {left, a_count, right, b_count};
    double product = (double)a_count * (double)b_count, all = (double)(a_count + b_count);
    double ties = weigh_ties_of_both(&pairs);
    size_t most = a_count * b_count, u = twice_u(&pairs), beyond;
    bool few = most <= EXACT_PRODUCT;
    double *odds = few ? rank_sums(a_count + b_count, a_count < b_count ? a_count : b_count) : NULL;
    if (few && ties == 0)
        shift.p = two_sided(odds, most, u / 2);
    else
        shift.p = two_sided_normal((double)u / 2 - product / 2,
                                   product / 12 * (all + 1 - ties / (all * (all - 1))));
    beyond = few ? lower_end(odds, most) : lower_end_normal(product / 2, product * (all + 1) / 12);
    fill_shift(&shift, &pairs, beyond);
    free(odds);
    free(right);
    free(left);
    return shift;
}

static int by_magnitude(const void *left, const void *right) {
    double a = fabs(*(const double *)left), b = fabs(*(const double *)right);
    return (a > b) - (a < b);
}

/* Twice the rank of each, so that the mean of two is whole. */
static size_t *twice_ranks(const double *sorted, size_t count) {
    size_t *ranks = must(malloc((count + 1) * sizeof *ranks));
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && fabs(sorted[next]) <= fabs(sorted[first]); next++)
            ;
        for (size_t i = first; i < next; i++)
            ranks[i] = first + 1 + next;
    }
    return ranks;
}

/* Wilcoxon's p; differences of 0 tell nothing and are left out. */
static double signed_rank_p(const double *differences, size_t all) {
    double *sorted = must(malloc((all + 1) * sizeof *sorted));
    size_t count = 0, sum = 0, positive = 0;
    for (size_t i = 0; i < all; i++)
        if (differences[i] < 0 || differences[i] > 0)
            sorted[count++] = differences[i];
    qsort(sorted, count, sizeof *sorted, by_magnitude);
    size_t *ranks = twice_ranks(sorted, count);
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += ranks[i];
        positive += sorted[i] > 0 ? ranks[i] : 0;
        squares += (double)ranks[i] * (double)ranks[i] / 16;
    }
    double p = 1;
    if (count > EXACT_PAIRS) {
        p = two_sided_normal((double)positive / 2 - (double)sum / 4, squares);
    } else if (count > 0) {
        double *odds = weight_sums(ranks, count, sum);
        p = two_sided(odds, sum, positive);
        free(odds);
    }
    free(ranks);
    free(sorted);
    return p;
}

static size_t signed_rank_end(size_t count) {
    double n = (double)count;
    if (count > EXACT_PAIRS)
        return lower_end_normal(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24);
    size_t weights[EXACT_PAIRS], most = count * (count + 1) / 2;
    for (size_t i = 0; i < count; i++)
        weights[i] = i + 1;
    double *odds = weight_sums(weights, count, most);
    size_t end = lower_end(odds, most);
    free(odds);
    return end;
}

struct shift shift_of_pairs(const double *differences, size_t count) {
    struct shift shift = {.value = NAN, .ci = {NAN, NAN}, .p = 1};
    if (count == 0)
        return shift;
    double *sorted = sorted_copy(differences, count);
    struct pairs pairs = {.b = sorted, .b_count = count};
    shift.p = signed_rank_p(differences, count);
    fill_shift(&shift, &pairs, signed_rank_end(count));
    free(sorted);
    return shift;
}

double least_p(size_t a_count, size_t b_count) {
    double n = (double)a_count, m = (double)b_count;
    return fmin(1, 2 * exp(lgamma(n + 1) + lgamma(m + 1) - lgamma(n + m + 1)));
}

double least_p_of_pairs(size_t count) {
    return fmin(1, ldexp(1, 1 - (int)count));
}

struct place {
    double p;
    size_t index;
};

static int by_p(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    return (a->p > b->p) - (a->p < b->p);
}

void holm(double *p, size_t count) {
    struct place *places = must(malloc((count + 1) * sizeof *places));
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){p[i], i};
    qsort(places, count, sizeof *places, by_p);
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmax(least, fmin(1, places[i].p * (double)(count - i)));
        p[places[i].index] = least;
    }
    free(places);
}
