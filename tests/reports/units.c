#include "test.h"

#include "units.h"

static void durations(void **state) {
    (void)state;
    assert_string_equal(label_time(38.4, NS).text, "38 ns");
    assert_string_equal(label_time(76400, US).text, "76 us");
    assert_string_equal(label_time(9960, US).text, "10 us");
    assert_string_equal(label_time(1240, US).text, "1.2 us");
    assert_string_equal(label_time(300800, US).text, "301 us");
    assert_string_equal(label_time(270000, MS).text, "0.27 ms");
    assert_string_equal(label_time(3140000, MS).text, "3.1 ms");
    assert_string_equal(label_time(27640000, MS).text, "27.6 ms");
    assert_string_equal(label_time(370400000, MS).text, "370 ms");
    assert_string_equal(label_time(1234, MS).text, "0.0012 ms");
    assert_string_equal(label_time(0, US).text, "0 us");
    assert_string_equal(label_time(-5100, US).text, "-5.1 us");
}

static void a_row_is_in_ms_from_1_ms_on(void **state) {
    (void)state;
    assert_int_equal(unit_for(999999), US);
    assert_int_equal(unit_for(1000000), MS);
}

static void sizes_and_gaps_are_exact(void **state) {
    (void)state;
    assert_string_equal(label_size(0).text, "0");
    assert_string_equal(label_size(4096).text, "4 KiB");
    assert_string_equal(label_size(256LL << 20).text, "256 MiB");
    assert_string_equal(label_size(3LL << 29).text, "1536 MiB");
    assert_string_equal(label_size(1LL << 40).text, "1 TiB");
    assert_string_equal(label_size(1001).text, "1001 B");
    assert_string_equal(label_at(0).text, "at 0 MiB");
    assert_string_equal(label_at(1LL << 30).text, "at 1 GiB");
    assert_string_equal(label_gap(1000000).text, "1 ms");
    assert_string_equal(label_gap(1500000).text, "1500 us");
    assert_string_equal(label_gap(2000000000).text, "2 s");
}

static void sizes_are_read_as_they_are_written(void **state) {
    (void)state;
    int64_t bytes;
    assert_true(parse_size("0", &bytes) && bytes == 0);
    assert_true(parse_size("1073741825", &bytes) && bytes == 1073741825);
    assert_true(parse_size("512MiB", &bytes) && bytes == 512LL << 20);
    assert_true(parse_size("3KiB", &bytes) && bytes == 3072);
    assert_true(parse_size("8388607TiB", &bytes) && bytes == INT64_MAX - (1LL << 40) + 1);
    assert_false(parse_size("8388608TiB", &bytes));
    assert_false(parse_size("1B", &bytes));
    assert_false(parse_size("1 GiB", &bytes));
    assert_false(parse_size("", &bytes));
}

static void rates_have_three_digits(void **state) {
    (void)state;
    assert_string_equal(label_rate(2909.1).text, "2910");
    assert_string_equal(label_rate(12345).text, "12300");
    assert_string_equal(label_rate(81.42).text, "81.4");
    assert_string_equal(label_rate(0.06).text, "0.0600");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(a_row_is_in_ms_from_1_ms_on),
        cmocka_unit_test(sizes_and_gaps_are_exact),
        cmocka_unit_test(sizes_are_read_as_they_are_written),
        cmocka_unit_test(rates_have_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
