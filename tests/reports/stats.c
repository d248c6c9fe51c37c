#include "test.h"

#include "rank.h"
#include "stats-table.h"
#include "stats.h"

#include <math.h>
#include <string.h>

static void close_to(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", found, expected);
}

static void between(double found, const double *ends) {
    if (!(found >= ends[0] && found <= ends[1]))
        fail_msg("%.17g is not between %.17g and %.17g", found, ends[0], ends[1]);
}

static void quantiles_are_type_7(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        close_to(quantile(quantiles[i].values, quantiles[i].count, quantiles[i].p),
                 quantiles[i].expected);
}

static void quantile_of_nothing_is_nan(void **state) {
    (void)state;
    assert_true(isnan(quantile(NULL, 0, 0.5)));
}

static void quantile_leaves_the_values_alone(void **state) {
    (void)state;
    const double values[] = {3, 1, 2};
    close_to(quantile(values, 3, 1), 3);
    close_to(values[0], 3);
    close_to(values[1], 1);
}

static void lines_are_least_squares(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct line line = fit_line(lines[i].x, lines[i].y, lines[i].count);
        close_to(line.intercept, lines[i].intercept);
        close_to(line.slope, lines[i].slope);
    }
}

static void no_line_through_one_x(void **state) {
    (void)state;
    const double x[] = {1, 1}, y[] = {2, 3};
    for (size_t count = 0; count <= 2; count++)
        assert_true(isnan(fit_line(x, y, count).slope));
}

static void intervals_are_of_the_exact_distribution(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        struct observation values[24];
        size_t count = intervals[i].rounds * intervals[i].each;
        for (size_t j = 0; j < count; j++)
            values[j] = (struct observation){.value = intervals[i].values[j],
                                             .round = j / intervals[i].each};
        struct interval found = bootstrap(values, count, intervals[i].rounds, intervals[i].p);
        between(found.low, intervals[i].low);
        between(found.high, intervals[i].high);
    }
}

static void bootstrap_repeats_itself(void **state) {
    (void)state;
    struct observation values[] = {{5, 0}, {3, 1}, {9, 2}, {4, 3}, {7, 4}, {1, 5}};
    struct interval first = bootstrap(values, 6, 6, 0.5), second = bootstrap(values, 6, 6, 0.5);
    close_to(first.low, second.low);
    close_to(first.high, second.high);
}

/* Too many rounds for the quick way: both must draw the same. */
/* The same rounds of both: what is twice the other in each is so in every resample. */
static void ratios_draw_the_same_rounds(void **state) {
    (void)state;
    struct observation values[60], others[90];
    for (size_t i = 0; i < 60; i++)
        values[i] = (struct observation){.value = 2 * (double)(1 + i / 6), .round = i / 6};
    for (size_t i = 0; i < 90; i++)
        others[i] = (struct observation){.value = (double)(1 + i / 9), .round = i / 9};
    struct interval twice = bootstrap_ratio(values, 60, others, 90, 10, 0);
    assert_true(twice.low == 2 && twice.high == 2);
    struct interval widest = bootstrap_ratio(values, 60, others, 90, 10, 0.99);
    assert_true(widest.low <= 2 && widest.high >= 2 && widest.high < 2.5);
    for (size_t i = 0; i < 60; i++)
        values[i].value = 5 + values[i].value / 2; /* they are sorted by now, as the others */
    struct interval five = bootstrap_difference(values, 60, others, 90, 10, 0);
    assert_true(five.low == 5 && five.high == 5);
    assert_true(isnan(bootstrap_difference(values, 60, others, 0, 10, 0).low));
    assert_true(isnan(bootstrap_ratio(values, 0, others, 90, 10, 0.5).low));
    assert_true(isnan(bootstrap_ratio(values, 60, others, 0, 10, 0.5).high));
}

static void many_rounds_are_drawn_alike(void **state) {
    (void)state;
    struct observation one[100], two[200];
    for (size_t i = 0; i < 100; i++) {
        one[i] = (struct observation){.value = (double)(i * 37 % 100), .round = i};
        two[2 * i] = two[2 * i + 1] = one[i];
    }
    struct interval once = bootstrap(one, 100, 100, 0.5), twice = bootstrap(two, 200, 100, 0.5);
    close_to(once.low, twice.low);
    close_to(once.high, twice.high);
}

static void what_a_line_explains(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++) {
        struct line line = fit_line(spreads[i].x, spreads[i].y, spreads[i].count);
        close_to(explained(line, spreads[i].x, spreads[i].y, spreads[i].count),
                 spreads[i].expected);
    }
    const double x[] = {0, 1, 2}, flat[] = {3, 3, 3};
    assert_true(isnan(explained(fit_line(x, flat, 3), x, flat, 3)));
    assert_true(isnan(explained(fit_line(x, x, 2), x, x, 2)));
}

static void check_shift(struct shift found, double value, int open, const double *ends, double p) {
    close_to(found.value, value);
    close_to(found.p, p);
    if (open) {
        assert_true(isnan(found.ci.low) && isnan(found.ci.high));
        return;
    }
    close_to(found.ci.low, ends[0]);
    close_to(found.ci.high, ends[1]);
}

static void shifts_of_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof paired / sizeof *paired; i++)
        check_shift(shift_of_pairs(paired[i].values, paired[i].count), paired[i].value,
                    paired[i].open, paired[i].ends, paired[i].p);
}

static void shifts_between_sets(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof parted / sizeof *parted; i++)
        check_shift(shift_between(parted[i].a, parted[i].left, parted[i].b, parted[i].right),
                    parted[i].value, parted[i].open, parted[i].ends, parted[i].p);
}

/* 61 differences are too many for the exact way. */
static void many_pairs(void **state) {
    (void)state;
    double differences[61];
    for (int i = 0; i < 61; i++)
        differences[i] = i % 2 ? i + 1 : -i - 1;
    /* of the ranks 1 to 61 the even ones are positive: 930 of 1891, 15.5 from the middle */
    close_to(shift_of_pairs(differences, 61).p, erfc(15.0 / sqrt(2 * 61 * 62 * 123 / 24.0)));
    assert_true(shift_of_pairs(differences, 61).p > shift_of_pairs(differences, 60).p / 2);
}

static void no_values_shift_nothing(void **state) {
    (void)state;
    const double zeros[8] = {0};
    assert_true(isnan(shift_of_pairs(NULL, 0).value));
    assert_true(isnan(shift_between(zeros, 8, NULL, 0).value));
    close_to(shift_between(NULL, 0, zeros, 8).p, 1);
    close_to(shift_of_pairs(zeros, 8).p, 1);
    close_to(shift_of_pairs(zeros, 8).value, 0);
    close_to(shift_between(zeros, 8, zeros, 8).p, 1);
}

static void the_least_p(void **state) {
    (void)state;
    const double low[] = {1, 2, 3, 4, 5, 6}, high[] = {7, 8, 9, 10, 11, 12};
    close_to(least_p(6, 6), shift_between(low, 6, high, 6).p);
    close_to(least_p_of_pairs(6), shift_of_pairs(low, 6).p);
    close_to(least_p(1, 1), 1);
    close_to(least_p_of_pairs(0), 1);
}

static void holm_adjusts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof adjusted / sizeof *adjusted; i++) {
        double p[6];
        memcpy(p, adjusted[i].p, sizeof p);
        holm(p, adjusted[i].count);
        for (size_t j = 0; j < adjusted[i].count; j++)
            close_to(p[j], adjusted[i].expected[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_type_7),
        cmocka_unit_test(quantile_of_nothing_is_nan),
        cmocka_unit_test(quantile_leaves_the_values_alone),
        cmocka_unit_test(lines_are_least_squares),
        cmocka_unit_test(no_line_through_one_x),
        cmocka_unit_test(intervals_are_of_the_exact_distribution),
        cmocka_unit_test(bootstrap_repeats_itself),
        cmocka_unit_test(ratios_draw_the_same_rounds),
        cmocka_unit_test(many_rounds_are_drawn_alike),
        cmocka_unit_test(what_a_line_explains),
        cmocka_unit_test(shifts_of_pairs),
        cmocka_unit_test(shifts_between_sets),
        cmocka_unit_test(many_pairs),
        cmocka_unit_test(no_values_shift_nothing),
        cmocka_unit_test(the_least_p),
        cmocka_unit_test(holm_adjusts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
