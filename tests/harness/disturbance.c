#include "disturbance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* 1,000 ticks of all CPUs, of which so many are used or stolen, and our own seconds. */
static struct disturbance after_ticks(uint64_t used, uint64_t stolen, double own_ticks) {
    struct activity before = {.cpus = {.all = 5000, .used = 700, .stolen = 3},
                              .own_seconds = 2,
                              .voluntary = 10,
                              .involuntary = 4};
    struct activity after = before;
    after.cpus.all += 1000;
    after.cpus.used += used;
    after.cpus.stolen += stolen;
    after.own_seconds += own_ticks / (double)sysconf(_SC_CLK_TCK);
    after.voluntary += 90;
    after.involuntary += 7;
    return disturbance_between(&before, &after);
}

static void test_our_own_time_is_not_another_program_s(void **unused) {
    struct disturbance d = after_ticks(600, 0, 600);
    (void)unused;
    assert_true(d.other < 1e-9);
    assert_string_equal(d.says, "");
    assert_int_equal(d.voluntary, 90);
    assert_int_equal(d.involuntary, 7);
}

/* However many CPUs there are: a tenth of one is much. */
static void test_other_programs(void **unused) {
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    char says[80];
    struct disturbance d = after_ticks(600, 0, 430);
    (void)unused;
    assert_true(d.other > 0.169 && d.other < 0.171);
    snprintf(says, sizeof says, "other programs used %.2f of %.0f CPUs", 0.17 * cpus, cpus);
    assert_string_equal(d.says, says);
    double much = 1000 * 0.1 / cpus;
    assert_string_equal(after_ticks(600, 0, 600 - much + 2).says, "");
    if (much > 10)
        assert_string_not_equal(after_ticks(600, 0, 600 - much - 2).says, "");
}

static void test_the_hypervisor(void **unused) {
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    char says[80];
    struct disturbance d = after_ticks(600, 30, 600);
    (void)unused;
    assert_true(d.steal > 0.029 && d.steal < 0.031);
    snprintf(says, sizeof says, "the hypervisor took %.2f of %.0f CPUs", 0.03 * cpus, cpus);
    assert_string_equal(d.says, says);
    assert_string_equal(after_ticks(600, 4, 600).says, "");
}

/* A block of 0.05 s: one tick is a large share of it, and says nothing. */
static void test_too_short_to_tell(void **unused) {
    struct activity before = {.cpus = {.all = 5000}}, after = {.cpus = {.all = 5010, .used = 9}};
    (void)unused;
    assert_string_equal(disturbance_between(&before, &after).says, "");
    after.cpus.stolen = 4;
    assert_string_equal(disturbance_between(&before, &after).says, "");
}

/* Ticks are sampled: short programs may be seen less often than they ran. */
static void test_more_of_our_own_than_was_used(void **unused) {
    struct disturbance d = after_ticks(600, 0, 620);
    (void)unused;
    assert_true(d.other >= 0 && d.other < 1e-9);
}

static void test_no_time_has_passed(void **unused) {
    struct activity now = activity_now();
    struct disturbance d = disturbance_between(&now, &now);
    (void)unused;
    assert_true(now.cpus.all > 0 && now.cpus.used > 0);
    assert_true(d.steal == 0 && d.other == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_own_time_is_not_another_program_s),
        cmocka_unit_test(test_other_programs),
        cmocka_unit_test(test_the_hypervisor),
        cmocka_unit_test(test_too_short_to_tell),
        cmocka_unit_test(test_more_of_our_own_than_was_used),
        cmocka_unit_test(test_no_time_has_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
