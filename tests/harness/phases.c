#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "phases.h"

/* harness/phases.c: lines of a tracer and the samples that they belong to. */

static const char SAID[] = "{'called':[1000,2000],'call':[100,110],'ready':[300,310],"
                           "'total':[500,510]}";

static json_t *text(const char *single_quoted) {
    char copy[1024];
    size_t length = 0;
    for (; single_quoted[length]; length++)
        copy[length] = single_quoted[length] == '\'' ? '"' : single_quoted[length];
    json_t *json = json_loadb(copy, length, 0, NULL);
    assert_non_null(json);
    return json;
}

/* What there is of lines, which must be `expected`; NULL: nothing. */
static void expect(const char *lines, bool elsewhere, const char *expected) {
    json_t *traced = text(lines), *said = text(SAID), *wanted = expected ? text(expected) : NULL;
    json_t *phases = phases_of_cell(traced, said, elsewhere);
    assert_true(wanted ? json_equal(phases, wanted) : phases == NULL);
    json_decref(phases);
    json_decref(wanted);
    json_decref(said);
    json_decref(traced);
}

static const char BOTH[] = "[{'asked':1010,'create':50,'call':60,'ready':200,'total':400},"
                           "{'asked':2010,'create':55,'call':65,'ready':205,'total':405}]";

static void what_lies_beyond_the_kernels_clock(void **state) {
    (void)state;
    expect(BOTH, false,
           "{'create':[50,55],'beyond_call':[40,45],'beyond_ready':[100,105],"
           "'beyond_total':[100,105]}");
    expect("[{'asked':900,'create':1}]", false, NULL);
}

static void not_of_children_that_others_make(void **state) {
    (void)state;
    expect(BOTH, true, "{'create':[50,55]}");
}

static void not_where_a_child_was_missed(void **state) {
    (void)state;
    expect("[{'asked':1010,'create':50,'call':60}]", false, "{'create':[50]}");
    /* Two of one sample, and none of the other. */
    expect("[{'asked':1010,'create':50,'call':60},{'asked':1020,'create':51,'call':61}]", false,
           "{'create':[50,51]}");
}

static void never_below_zero(void **state) {
    (void)state;
    expect("[{'asked':1010,'call':60,'total':501},{'asked':2010,'call':65,'total':405}]", false,
           "{'beyond_call':[40,45]}");
}

static void lost(const char *lines, json_int_t expected) {
    json_t *traced = text(lines);
    assert_int_equal(phases_count_lost(traced), expected);
    json_decref(traced);
}

static void what_was_lost_is_what_the_tracer_says(void **state) {
    (void)state;
    lost("[{'asked':1},{'lost':3}]", 3);
    lost("[{'event':'begin'},{'event':'end','lost':{'records':2,'stacks':9,'entries':5}}]", 7);
    lost("[{'lost':0}]", 0);
    lost("[{'asked':1}]", -1);
    lost("[]", -1);
    assert_int_equal(phases_count_lost(NULL), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_beyond_the_kernels_clock),
        cmocka_unit_test(not_of_children_that_others_make),
        cmocka_unit_test(not_where_a_child_was_missed),
        cmocka_unit_test(never_below_zero),
        cmocka_unit_test(what_was_lost_is_what_the_tracer_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
