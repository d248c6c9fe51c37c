#include "matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "units.h"

static struct recipe *recipe;
static char why[WHY_SIZE], path[4096];

static const struct cell *find(const struct matrix *m, const char *name) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->cells[i].name, name) == 0)
            return &m->cells[i];
    return NULL;
}

static struct matrix fill(const char *name, const struct overrides *overrides) {
    struct matrix m = {0};
    snprintf(path, sizeof path, "%s/%s.yaml", getenv("MATRICES"), name);
    recipe = recipe_load(path, why, sizeof why);
    if (!recipe || !matrix_fill(&m, recipe, overrides, path, why, sizeof why))
        fail_msg("%s", why);
    return m;
}

static struct values *values_of(struct overrides *o, const char *axis) {
    return &o->axes[axis_find(axis) - axes];
}

static struct matrix quick(void) {
    return fill("quick", &(struct overrides){0});
}

static void end(struct matrix *m) {
    matrix_clear(m);
    recipe_free(recipe);
}

static void test_quick_has_what_the_table_needs(void **unused) {
    static const char *const strategies[] = {"forkless_start", "forkless_spawn", "clone3",
                                             "vfork",          "posix_spawn",    "fork",
                                             "floor_vm",       "floor_vfork"};
    static const char *const suffixes[] = {"",          "/rss:256MiB",     "/rss:1GiB",
                                           "/rss:4GiB", "/rss:4GiB/gap:0", "/rss:1GiB/at_once:16"};
    struct matrix m = quick();
    char name[CELL_NAME_SIZE];
    (void)unused;
    for (size_t s = 0; s < 8; s++)
        for (size_t x = 0; x < 6; x++) {
            snprintf(name, sizeof name, "spawn/%s%s", strategies[s], suffixes[x]);
            if (!find(&m, name))
                fail_msg("no cell %s", name);
        }
    assert_int_equal(m.count, 8 * 6 + 1);
    assert_string_equal(m.cells[0].name, "spawn/null");
    /* n >= 5 / (1 - 0.99) in 8 rounds, or the table has no p99. */
    assert_true(8 * find(&m, "spawn/forkless_start/rss:4GiB")->samples >= 500);
    assert_int_equal(find(&m, "spawn/fork/rss:4GiB")->samples, 5);
    assert_int_equal(find(&m, "spawn/fork/rss:256MiB")->samples, 40);
    end(&m);
}

static void test_every_matrix_that_ships_is_whole(void **unused) {
    static const char *const names[] = {"quick", "standard", "full", "calibrate"};
    (void)unused;
    for (size_t n = 0; n < 4; n++) {
        struct matrix m = fill(names[n], &(struct overrides){0});
        for (size_t i = 0; i < m.count; i++)
            assert_ptr_equal(find(&m, m.cells[i].name), &m.cells[i]);
        end(&m);
    }
    struct matrix standard = fill("standard", &(struct overrides){0});
    assert_int_equal(recipe->rounds, 20);
    assert_int_equal(find(&standard, "spawn/vfork/rss:1GiB")->samples, 300);
    assert_int_equal(find(&standard, "spawn/fork/rss:1GiB")->samples, 20);
    assert_non_null(find(&standard, "spawn/fork/rss:1GiB/target:dynamic"));
    assert_non_null(find(&standard, "spawn/forkless_start/rss:1GiB/fds:19000"));
    assert_non_null(find(&standard, "spawn/vfork/rss:1GiB/spawners:64"));
    assert_non_null(find(&standard, "capture/forkless_run/rss:1GiB/target:mebibyte"));
    assert_non_null(find(&standard, "capture/posix_spawn_read/rss:1GiB/target:mebibyte"));
    for (size_t i = 1; i < attribute_count; i++) {
        char name[CELL_NAME_SIZE];
        snprintf(name, sizeof name, "spawn/forkless_spawn/rss:1GiB/attributes:%s",
                 attributes[i].name);
        assert_non_null(find(&standard, name));
    }
    end(&standard);
}

static void test_overrides_replace_an_axis_in_every_entry(void **unused) {
    char *sizes[] = {"0", "2GiB"}, *strategies[] = {"fork", "vfork"}, *targets[] = {"./a/program"};
    struct overrides o = {.samples = 7};
    (void)unused;
    *values_of(&o, "rss") = (struct values){sizes, 2};
    *values_of(&o, "strategy") = (struct values){strategies, 2};
    *values_of(&o, "target") = (struct values){targets, 1};
    struct matrix m = fill("quick", &o);
    assert_int_equal(m.count, 1 + 2 * 2 * 3); /* paced, back to back, burst */
    assert_string_equal(m.cells[0].name, "spawn/null");
    assert_int_equal(find(&m, "spawn/vfork/rss:2GiB/target:program")->samples, 7);
    assert_int_equal(find(&m, "spawn/fork/rss:2GiB/at_once:16/target:program")->samples, 5);
    assert_string_equal(m.cells[1].target, "./a/program");
    end(&m);
}

static void test_wrong_overrides(void **unused) {
    static const struct {
        const char *axis;
        char *value;
        const char *says;
    } wrong[] = {
        {"rss", "1 GB", "--rss: '1 GB' is not a size such as 0, 256MiB or 1GiB"},
        {"rss", "-1", "--rss: '-1' is not a size such as 0, 256MiB or 1GiB"},
        {"rss", "1000", "--rss: '1000' is not a size such as 0, 256MiB or 1GiB"},
        {"rss", "99999999TiB", "--rss: '99999999TiB' is not a size such as 0, 256MiB or 1GiB"},
        {"gap", "1 ms", "--gap: '1 ms' is not a time such as 0, 20us or 1ms"},
        {"at_once", "2000", "--at-once: '2000' is not a whole number from 1 to 1024"},
        {"fds", "19001", "--fds: '19001' is not a whole number from 0 to 19000"},
        {"fds", "-1", "--fds: '-1' is not a whole number from 0 to 19000"},
        {"spawners", "0", "--spawners: '0' is not a whole number from 1 to 64"},
        {"spawners", "65", "--spawners: '65' is not a whole number from 1 to 64"},
        {"attributes", "evn", "--attributes: there is no attribute 'evn'; did you mean env?"},
        {"attributes", "foo",
         "--attributes: there is no attribute 'foo'; --list names those that there are"},
        {"attributes", "fd",
         "--attributes: floor_vm cannot take 'fd': forkless_spawn, forkless_start and batches take "
         "attributes"},
        {"strategy", "forkles_start",
         "--strategy: there is no strategy 'forkles_start'; did you mean forkless_start?"},
        {"target", "tyni", "--target: there is no target 'tyni'; did you mean tiny?"},
        {"target", "huge",
         "--target: there is no target 'huge', but tiny, silent, static, dynamic, script, "
         "mebibyte, waiter, or a path with a slash"},
    };
    (void)unused;
    struct matrix m = quick();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct matrix none = {0};
        struct overrides o = {0};
        char *value = wrong[i].value;
        *values_of(&o, wrong[i].axis) = (struct values){&value, 1};
        assert_false(matrix_fill(&none, recipe, &o, path, why, sizeof why));
        assert_string_equal(why, wrong[i].says);
        matrix_clear(&none);
    }
    end(&m);
}

static void test_more_children_than_can_stamp(void **unused) {
    char *spawners = "64", *at_once[] = {"16", "17"};
    struct overrides o = {0};
    struct matrix m = quick(), none = {0};
    (void)unused;
    *values_of(&o, "spawners") = (struct values){&spawners, 1};
    *values_of(&o, "at_once") = (struct values){at_once, 2};
    assert_false(matrix_fill(&none, recipe, &o, path, why, sizeof why));
    assert_string_equal(why, "--spawners: 64 spawners of 17 at once have more than 1024 children");
    matrix_clear(&none);
    end(&m);
}

static void test_the_new_axes_stand_in_names(void **unused) {
    char *strategy = "forkless_spawn", *rss = "1GiB", *pages = "shared", *mappings = "9",
         *memory = "dontfork", *threads = "2", *gap = "1us", *between = "sleep", *pin = "caller",
         *load = "all", *at_once = "2", *commands = "1", *fds = "100", *spawners = "3",
         *attribute = "fd", *victim = "none", *place = "free", *after = "none", *target = "silent",
         *traced = "phases";
    char *const values[] = {strategy,  rss,     pages,    mappings, memory,   threads, gap,
                            between,   at_once, commands, fds,      spawners, pin,     load,
                            attribute, victim,  place,    after,    target,   traced};
    struct cell cell = cell_default;
    (void)unused;
    assert_int_equal(sizeof values / sizeof *values, axis_count);
    for (size_t i = 0; i < axis_count; i++)
        assert_true(axis_set(&axes[i], &cell, values[i], why, sizeof why));
    assert_null(axes_conflict(&cell, why, sizeof why));
    assert_int_equal(cell_children(&cell), 6);
    cell_name(&cell);
    assert_string_equal(cell.name,
                        "spawn/forkless_spawn/rss:1GiB/pages:shared/mappings:9/"
                        "memory:dontfork/threads:2/gap:1us/between:sleep/at_once:2/fds:100/"
                        "spawners:3/pin:caller/load:all/attributes:fd/target:silent/traced:phases");

    cell = cell_default;
    assert_true(axis_set(axis_find("strategy"), &cell, "null", why, sizeof why));
    assert_true(axis_set(axis_find("victim"), &cell, "faulter", why, sizeof why));
    assert_true(axis_set(axis_find("place"), &cell, "away", why, sizeof why));
    assert_null(axes_conflict(&cell, why, sizeof why));
    cell_name(&cell);
    assert_string_equal(cell.name, "spawn/null/victim:faulter/place:away");
}

static void test_cells_with_threads(void **unused) {
    (void)unused;
    for (size_t i = 0; i < strategy_count; i++) {
        struct cell cell = cell_default;
        cell.strategy = strategy_find(strategy_names[i]);
        assert_int_equal(cell_has_threads(&cell),
                         strcmp(strategy_names[i], "forkless_batch_thread") == 0);
    }
}

static void test_each_attribute_is_a_cell(void **unused) {
    char *strategies[] = {"forkless_spawn"}, *each = "each", *zero = "0", *one = "1";
    struct overrides o = {0};
    char name[CELL_NAME_SIZE];
    (void)unused;
    *values_of(&o, "strategy") = (struct values){strategies, 1};
    *values_of(&o, "rss") = (struct values){&zero, 1};
    *values_of(&o, "gap") = (struct values){&zero, 1};
    *values_of(&o, "at_once") = (struct values){&one, 1};
    *values_of(&o, "attributes") = (struct values){&each, 1};
    struct matrix m = fill("quick", &o);
    assert_int_equal(m.count, 1 + attribute_count - 1);
    for (size_t i = 1; i < attribute_count; i++) {
        snprintf(name, sizeof name, "spawn/forkless_spawn/gap:0/attributes:%s", attributes[i].name);
        assert_non_null(find(&m, name));
        assert_ptr_equal(attribute_find(attributes[i].name), &attributes[i]);
    }
    end(&m);
}

static void test_two_targets_of_one_name(void **unused) {
    char *targets[] = {"./a/program", "./b/program"};
    struct overrides o = {0};
    struct matrix m = quick(), none = {0};
    (void)unused;
    *values_of(&o, "target") = (struct values){targets, 2};
    assert_false(matrix_fill(&none, recipe, &o, path, why, sizeof why));
    assert_string_equal(why, "the targets ./a/program and ./b/program have one name");
    matrix_clear(&none);
    end(&m);
}

static void test_ballasts_come_once_each(void **unused) {
    struct matrix m = quick();
    const struct cell *firsts[64];
    (void)unused;
    assert_true(m.count <= 64);
    assert_int_equal(matrix_ballasts(&m, firsts), 4);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(same_ballast(firsts[i], firsts[j]));
    end(&m);
}

static void test_filter(void **unused) {
    struct matrix m = quick();
    regex_t regex;
    (void)unused;
    assert_int_equal(regcomp(&regex, "/v?fork/.*gap:0$", REG_EXTENDED | REG_NOSUB), 0);
    matrix_filter(&m, &regex);
    regfree(&regex);
    assert_int_equal(m.count, 2); /* fork and vfork */
    assert_non_null(find(&m, "spawn/vfork/rss:4GiB/gap:0"));
    end(&m);
}

static void test_every_strategy_is_found_by_its_name(void **unused) {
    (void)unused;
    for (size_t i = 0; i < strategy_count; i++)
        assert_string_equal(strategy_find(strategy_names[i])->name, strategy_names[i]);
    assert_null(strategy_find("spork"));
}

static void test_units(void **unused) {
    static const char *const sizes[] = {"0", "4KiB", "3MiB", "64GiB", "1TiB", "1028KiB"};
    static const char *const times[] = {"0", "20us", "1ms", "1500us", "2s", "7ns"};
    static const char *const no_sizes[] = {"",    "1",      "1GB",  "1 GiB",
                                           "GiB", "0.5GiB", "1KiB", "+1GiB"};
    char name[32];
    uint64_t value;
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(size_parse(sizes[i], &value));
        size_name(value, name, sizeof name);
        assert_string_equal(name, sizes[i]);
        assert_true(time_parse(times[i], &value));
        time_name(value, name, sizeof name);
        assert_string_equal(name, times[i]);
    }
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++)
        assert_false(size_parse(no_sizes[i], &value));
    assert_true(size_parse("1GiB", &value));
    assert_int_equal(value, 1073741824);
    assert_true(time_parse("1ms", &value));
    assert_int_equal(value, 1000000);
    assert_false(count_parse("8x", 1, 9, &value));
    assert_false(count_parse("-8", 1, 9, &value));
    assert_false(count_parse("99999999999999999999", 1, UINT64_MAX, &value));
    assert_true(count_parse("8", 1, 9, &value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick_has_what_the_table_needs),
        cmocka_unit_test(test_every_matrix_that_ships_is_whole),
        cmocka_unit_test(test_overrides_replace_an_axis_in_every_entry),
        cmocka_unit_test(test_wrong_overrides),
        cmocka_unit_test(test_more_children_than_can_stamp),
        cmocka_unit_test(test_the_new_axes_stand_in_names),
        cmocka_unit_test(test_cells_with_threads),
        cmocka_unit_test(test_each_attribute_is_a_cell),
        cmocka_unit_test(test_two_targets_of_one_name),
        cmocka_unit_test(test_ballasts_come_once_each),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_every_strategy_is_found_by_its_name),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
