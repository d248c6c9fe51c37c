#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The first numbers of splitmix64 from 1234567, as its author's page lists them. */
static void test_known_numbers(void **unused) {
    static const uint64_t known[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                     UINT64_C(16408922859458223821)};
    uint64_t state = 1234567;
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(random_next(&state) == known[i]);
}

static void test_shuffle_keeps_everything(void **unused) {
    size_t order[100], seen[100] = {0}, moved = 0;
    uint64_t state = 7;
    (void)unused;
    for (size_t i = 0; i < 100; i++)
        order[i] = i;
    random_shuffle(&state, order, 100);
    for (size_t i = 0; i < 100; i++) {
        seen[order[i]]++;
        moved += order[i] != i;
    }
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 80);
}

static void test_every_order_comes(void **unused) {
    size_t orders[6] = {0};
    uint64_t state = 1;
    (void)unused;
    for (int n = 0; n < 6000; n++) {
        size_t o[3] = {0, 1, 2};
        random_shuffle(&state, o, 3);
        orders[2 * o[0] + (o[1] > o[2])]++;
    }
    for (int i = 0; i < 6; i++) /* 1,000 expected; 6 standard deviations are 173 */
        assert_in_range(orders[i], 827, 1173);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_shuffle_keeps_everything),
        cmocka_unit_test(test_every_order_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
