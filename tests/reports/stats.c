#include "test.h"

#include "stats-table.h"
#include "stats.h"

#include <math.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_type_7),
        cmocka_unit_test(quantile_of_nothing_is_nan),
        cmocka_unit_test(quantile_leaves_the_values_alone),
        cmocka_unit_test(lines_are_least_squares),
        cmocka_unit_test(no_line_through_one_x),
        cmocka_unit_test(intervals_are_of_the_exact_distribution),
        cmocka_unit_test(bootstrap_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
