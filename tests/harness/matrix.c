#include "matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct cell *find(const struct matrix *m, const char *name) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->cells[i].name, name) == 0)
            return &m->cells[i];
    return NULL;
}

static void test_quick_has_what_the_table_needs(void **unused) {
    static const char *const strategies[] = {"forkless_start", "forkless_spawn", "clone3",
                                             "vfork",          "posix_spawn",    "fork"};
    static const char *const suffixes[] = {"",          "/rss:256MiB",     "/rss:1GiB",
                                           "/rss:4GiB", "/rss:4GiB/gap:0", "/rss:1GiB/at_once:16"};
    struct matrix *m = matrix_quick("tiny");
    char name[CELL_NAME_SIZE];
    (void)unused;
    for (size_t s = 0; s < 6; s++)
        for (size_t x = 0; x < 6; x++) {
            snprintf(name, sizeof name, "spawn/%s%s", strategies[s], suffixes[x]);
            if (!find(m, name))
                fail_msg("no cell %s", name);
        }
    assert_non_null(find(m, "spawn/null"));
    assert_non_null(find(m, "spawn/floor_vm/rss:1GiB"));
    assert_non_null(find(m, "spawn/floor_vfork/rss:1GiB"));
    matrix_free(m);
}

static void test_names_are_unique_and_tell_the_target(void **unused) {
    struct matrix *m = matrix_quick("/some/where/program");
    (void)unused;
    for (size_t i = 0; i < m->count; i++) {
        assert_ptr_equal(find(m, m->cells[i].name), &m->cells[i]);
        assert_non_null(strstr(m->cells[i].name, "/target:program"));
    }
    matrix_free(m);
}

/* n >= 5 / (1 - 0.99) in 8 rounds, or the table has no p99. */
static void test_samples_are_enough_for_p99(void **unused) {
    struct matrix *m = matrix_quick("tiny");
    (void)unused;
    assert_true(8 * find(m, "spawn/forkless_start/rss:4GiB")->samples >= 500);
    assert_int_equal(find(m, "spawn/fork/rss:4GiB")->samples, 5);
    matrix_free(m);
}

static void test_ballasts_come_once_each(void **unused) {
    struct matrix *m = matrix_quick("tiny");
    uint64_t rss[64];
    (void)unused;
    assert_true(m->count <= 64);
    assert_int_equal(matrix_ballasts(m, rss), 4);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(rss[i] != rss[j]);
    matrix_free(m);
}

static void test_filter(void **unused) {
    struct matrix *m = matrix_quick("tiny");
    regex_t regex;
    (void)unused;
    assert_int_equal(regcomp(&regex, "/v?fork/.*gap:0$", REG_EXTENDED | REG_NOSUB), 0);
    matrix_filter(m, &regex);
    regfree(&regex);
    assert_int_equal(m->count, 2); /* fork and vfork */
    assert_non_null(find(m, "spawn/vfork/rss:4GiB/gap:0"));
    matrix_free(m);
}

static void test_every_strategy_is_found_by_its_name(void **unused) {
    struct matrix *m = matrix_quick("tiny");
    (void)unused;
    for (size_t i = 0; i < m->count; i++)
        assert_ptr_equal(strategy_find(m->cells[i].strategy->name), m->cells[i].strategy);
    assert_null(strategy_find("spork"));
    matrix_free(m);
}

static void test_size_names(void **unused) {
    char name[32];
    (void)unused;
    size_name(0, name, sizeof name);
    assert_string_equal(name, "0");
    size_name(UINT64_C(3) << 20, name, sizeof name);
    assert_string_equal(name, "3MiB");
    size_name(UINT64_C(64) << 30, name, sizeof name);
    assert_string_equal(name, "64GiB");
    size_name(4097, name, sizeof name);
    assert_string_equal(name, "4097B");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick_has_what_the_table_needs),
        cmocka_unit_test(test_names_are_unique_and_tell_the_target),
        cmocka_unit_test(test_samples_are_enough_for_p99),
        cmocka_unit_test(test_ballasts_come_once_each),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_every_strategy_is_found_by_its_name),
        cmocka_unit_test(test_size_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
