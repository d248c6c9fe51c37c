#include "test.h"

#include "layout.h"
#include "notes.h"

#include <stdio.h>
#include <stdlib.h>

/* Each test prints here, and then compares. */
static char *printed;
static size_t length;
static FILE *page;

static int open_page(void **state) {
    (void)state;
    page = open_memstream(&printed, &length);
    return page ? 0 : -1;
}

static int close_page(void **state) {
    (void)state;
    free(printed);
    return 0;
}

static void assert_printed(const char *expected) {
    fclose(page);
    assert_string_equal(printed, expected);
}

static void columns_end_together(void **state) {
    (void)state;
    struct table *table = table_new(4, 3);
    table_set(table, 0, 1, "call");
    table_set(table, 0, 2, "call back to back");
    table_set(table, 1, 0, "fork");
    table_set(table, 1, 1, "27.6 ms");
    table_set(table, 1, 2, "-");
    table_set(table, 3, 0, "floor_vm");
    table_set(table, 3, 1, "9 \u00b5s");
    table_print(table, page);
    table_free(table);
    assert_printed("                    call   call back to back\n"
                   " fork            27.6 ms                   -\n"
                   "\n"
                   " floor_vm           9 \u00b5s\n");
}

static void columns_past_the_page_go_below(void **state) {
    (void)state;
    struct table *table = table_new(2, 9);
    for (size_t column = 1; column < 9; column++) {
        const char head[] = {(char)('0' + column), '\0'};
        table_set(table, 0, column, head);
        table_set(table, 1, column, "100 us");
    }
    table_set(table, 1, 0, "vfork");
    table_print(table, page);
    table_free(table);
    assert_printed("                       1         2         3         4         5         6\n"
                   " vfork            100 us    100 us    100 us    100 us    100 us    100 us\n"
                   "\n"
                   "                         7         8\n"
                   " vfork              100 us    100 us\n");
}

static void words_stay_in_the_page(void **state) {
    (void)state;
    print_words(page,
                "0123456789 123456789 123456789 123456789 123456789 123456789 "
                "123456789 a word",
                0, 2);
    print_words(page, "the caller is held for a time that is precisely as long as this, or 5.5 ms.",
                7, 2);
    assert_printed("0123456789 123456789 123456789 123456789 123456789 123456789 123456789 a word\n"
                   "the caller is held for a time that is precisely as long as this, or\n"
                   "  5.5 ms.\n");
}

static void notes_merge_equal_reasons(void **state) {
    (void)state;
    struct notes notes = {.columns = 3};
    notes_add(&notes, "fork", "4 GiB", "no memory");
    notes_add(&notes, "vfork", "0", "not in this run");
    notes_add(&notes, "clone3", "0", "not in this run");
    notes_add(&notes, "vfork", "4 GiB", "no memory");
    notes_add(&notes, "clone3", "1 GiB", "not in this run");
    for (int column = 0; column < 3; column++)
        notes_add(&notes, "posix_spawn", "any", "no memory");
    notes_print(&notes, page);
    notes_clear(&notes);
    assert_printed(" -  fork, vfork (4 GiB); posix_spawn: no memory\n"
                   " -  vfork (0); clone3 (0, 1 GiB): not in this run\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_end_together, open_page, close_page),
        cmocka_unit_test_setup_teardown(columns_past_the_page_go_below, open_page, close_page),
        cmocka_unit_test_setup_teardown(words_stay_in_the_page, open_page, close_page),
        cmocka_unit_test_setup_teardown(notes_merge_equal_reasons, open_page, close_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
