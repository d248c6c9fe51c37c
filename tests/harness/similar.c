#include "similar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"bench", "compare", "cow", "doctor", "report", "trace"};
enum { NAMES = sizeof names / sizeof *names };

static void test_slips(void **unused) {
    static const char *const slips[][2] = {
        {"bench", "bench"},    {"bnech", "bench"},   {"benhc", "bench"},     {"bech", "bench"},
        {"benchh", "bench"},   {"Bench", "bench"},   {"bencj", "bench"},     {"benchs", "bench"},
        {"benchmrk", "bench"}, {"repotr", "report"}, {"reports", "report"},  {"eport", "report"},
        {"doctro", "doctor"},  {"docter", "doctor"}, {"comapre", "compare"}, {"tarce", "trace"},
        {"cwo", "cow"},        {"co", "cow"},        {"cows", "cow"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const char *meant = similar(slips[i][0], names, NAMES);
        if (!meant || strcmp(meant, slips[i][1]) != 0)
            fail_msg("%s: %s, not %s", slips[i][0], meant ? meant : "nothing", slips[i][1]);
    }
}

static void test_too_far(void **unused) {
    char long_word[200];
    memset(long_word, 'b', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    const char *const far[] = {"",       "b",    "xy",    "xyz",   "fork",
                               "status", "help", "hcneb", "chart", long_word};
    (void)unused;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        const char *meant = similar(far[i], names, NAMES);
        if (meant)
            fail_msg("%s: %s", far[i], meant);
    }
}

static void test_the_nearest_wins(void **unused) {
    static const char *const near[] = {"standard1", "standards", "standard"};
    char long_name[200];
    memset(long_name, 'b', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *const with_long[] = {long_name, "bench"};
    (void)unused;
    assert_string_equal(similar("standard", near, 3), "standard");
    assert_string_equal(similar("standrad", near, 3), "standard");
    assert_string_equal(similar("bnech", with_long, 2), "bench");
    assert_null(similar("bench", names, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_too_far),
        cmocka_unit_test(test_the_nearest_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
