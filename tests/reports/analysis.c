#include "test.h"

#include "along.h"
#include "analysis.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Small runs, written by hand; what they must give was computed by hand. */

static const char HOST[] =
    "{\"kind\":\"run\",\"schema\":1,\"matrix\":\"standard\",\"rounds\":%d,"
    "\"host\":{\"cpu\":\"x\",\"cpus\":2,\"virtual\":false,\"kernel\":\"6\",\"libc\":\"g\","
    "\"page_size\":4096},\"cells\":["
    "{\"name\":\"spawn/a\",\"strategy\":\"a\",\"rss\":0,\"gap\":1000000,\"at_once\":1,"
    "\"target\":\"tiny\"},"
    "{\"name\":\"spawn/a/rss:1GiB\",\"strategy\":\"a\",\"rss\":1073741824,\"gap\":1000000,"
    "\"at_once\":1,\"target\":\"tiny\"},"
    "{\"name\":\"spawn/a/rss:2GiB\",\"strategy\":\"a\",\"rss\":2147483648,\"gap\":1000000,"
    "\"at_once\":1,\"target\":\"tiny\"},"
    "{\"name\":\"spawn/b\",\"strategy\":\"b\",\"rss\":0,\"gap\":1000000,\"at_once\":1,"
    "\"target\":\"tiny\"}]}\n";

static char path[] = "/tmp/forkless-analysis-XXXXXX";
static FILE *file;

static int begin(void **state) {
    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int descriptor = mkstemp(path);
    file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    return file ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

static void add(int round, const char *cell, const char *call) {
    fprintf(file,
            "{\"kind\":\"cell\",\"round\":%d,\"cell\":\"%s\",\"state\":\"measured\",\"call\":%s,"
            "\"total\":%s,\"cpu\":%s}\n",
            round, cell, call, call, call);
}

static struct run *read_back(void) {
    char *error = NULL;
    fclose(file);
    struct run *run = run_read(path, &error);
    if (!run)
        fail_msg("%s", error);
    return run;
}

static void equal(double found, double expected) {
    if (!(fabs(found - expected) < 1e-9))
        fail_msg("%.17g is not %.17g", found, expected);
}

static void a_figure_is_the_median_of_the_p50s(void **state) {
    (void)state;
    fprintf(file, HOST, 4);
    add(0, "spawn/a", "[10,20,90]");
    add(1, "spawn/a", "[1,3]");
    add(3, "spawn/a", "[40]");
    struct run *run = read_back();
    const struct cell *cell = run_cell(run, "spawn/a");
    struct estimate found = estimate_figure(run, cell, CALL);
    equal(found.value, 20);
    equal(median(run, cell, CALL), 20);
    equal(found.ci.low, 2);
    equal(found.ci.high, 40);
    assert_int_equal(found.rounds, 3);
    assert_true(isnan(median(run, cell, READY)));
    assert_true(isnan(median(run, NULL, CALL)));
    run_free(run);
}

static void one_round_has_no_interval(void **state) {
    (void)state;
    fprintf(file, HOST, 1);
    add(0, "spawn/a", "[10]");
    struct run *run = read_back();
    struct estimate found = estimate_figure(run, run_cell(run, "spawn/a"), CALL);
    equal(found.value, 10);
    assert_true(isnan(found.ci.low) && isnan(found.ci.high));
    run_free(run);
}

static void comparisons_are_paired_by_round(void **state) {
    (void)state;
    fprintf(file, HOST, 5);
    const char *a[] = {"[10]", "[200]", "[3000]", "[7]", "[5]"};
    const char *b[] = {"[20]", "[400]", "[6000]", "[0]", NULL};
    for (int round = 0; round < 5; round++) {
        add(round, "spawn/a", a[round]);
        if (b[round])
            add(round, "spawn/b", b[round]);
    }
    struct run *run = read_back();
    const struct cell *over = run_cell(run, "spawn/a"), *under = run_cell(run, "spawn/b");
    struct estimate ratio = estimate_ratio(run, over, under, CALL);
    assert_int_equal(ratio.rounds, 3); /* 7/0 is no value, and round 4 has no b */
    equal(ratio.value, 0.5);
    equal(ratio.ci.low, 0.5);
    equal(ratio.ci.high, 0.5);
    struct estimate difference = estimate_difference(run, under, over, CALL);
    assert_int_equal(difference.rounds, 4);
    equal(difference.value, (10 + 200) / 2.0);
    run_free(run);
}

static void growth_is_a_line_a_round(void **state) {
    (void)state;
    fprintf(file, HOST, 3);
    const char *small[] = {"[100]", "[200]", "[0]"}, *large[] = {"[120]", "[260]", "[20]"};
    for (int round = 0; round < 3; round++) {
        add(round, "spawn/a", small[round]);
        add(round, "spawn/a/rss:2GiB", large[round]);
        add(round, "spawn/b", "[1]");
    }
    struct run *run = read_back();
    struct axes axes = run_cell(run, "spawn/a")->axes;
    struct growth growth = estimate_growth(run, axes, CALL);
    equal(growth.slope.value, 10);
    equal(growth.slope.ci.high, 30);
    equal(growth.intercept.value, 100);
    equal(estimate_growth_ratio(run, axes, axes, CALL).value, 1);
    assert_int_equal(estimate_growth(run, run_cell(run, "spawn/b")->axes, CALL).slope.rounds, 0);
    run_free(run);
}

/* The expected numbers were computed in Python, the interval from all 5^5 ways to draw the rounds.
 */
static void a_figure_at_any_size_comes_from_the_lines(void **state) {
    (void)state;
    fprintf(file, HOST, 6);
    const char *small[] = {"[100]", "[200]", "[150]", "[300]", "[120]", "[700]"};
    const char *large[] = {"[120]", "[260]", "[170]", "[310]", "[160]", NULL};
    for (int round = 0; round < 6; round++) {
        add(round, "spawn/a", small[round]);
        if (large[round])
            add(round, "spawn/a/rss:2GiB", large[round]);
    }
    struct run *run = read_back();
    struct axes axes = run_cell(run, "spawn/a")->axes;
    struct estimate far = estimate_at(run, axes, CALL, 8LL << 30);
    assert_int_equal(far.rounds, 5);
    equal(far.value, 280);
    equal(far.ci.low, 180);
    equal(far.ci.high, 440);
    equal(estimate_at(run, axes, CALL, 1 << 30).value, 160);
    assert_int_equal(estimate_at(run, run_cell(run, "spawn/b")->axes, CALL, 0).rounds, 0);
    run_free(run);
}

static void what_is_not_known_to_grow_is_not_drawn_on(void **state) {
    (void)state;
    fprintf(file, HOST, 6);
    const char *large[] = {"[90]", "[110]", "[95]", "[105]", "[100]", "[102]"};
    for (int round = 0; round < 6; round++) {
        add(round, "spawn/a", "[100]");
        add(round, "spawn/a/rss:2GiB", large[round]);
    }
    struct run *run = read_back();
    struct estimate far = estimate_at(run, run_cell(run, "spawn/a")->axes, CALL, 1LL << 40);
    equal(far.value, 101);
    equal(far.ci.low, estimate_figure(run, run_cell(run, "spawn/a/rss:2GiB"), CALL).ci.low);
    run_free(run);
}

static void a_size_that_was_measured_has_its_own_figure(void **state) {
    (void)state;
    fprintf(file, HOST, 1);
    add(0, "spawn/a", "[100]");
    add(0, "spawn/a/rss:1GiB", "[400]");
    add(0, "spawn/a/rss:2GiB", "[500]");
    struct run *run = read_back();
    struct axes axes = run_cell(run, "spawn/a")->axes;
    equal(estimate_at(run, axes, CALL, 0).value, 100);
    equal(estimate_at(run, axes, CALL, 1 << 30).value, 400);
    equal(estimate_at(run, axes, CALL, 1 << 29).value, 250);
    equal(estimate_at(run, axes, CALL, 4LL << 30).value, 900); /* 200 for each GiB beyond */
    run_free(run);
}

#define THREADS(strategy)                                                                          \
    "{\"name\":\"spawn/" strategy "\",\"strategy\":\"" strategy                                    \
    "\",\"rss\":0,\"gap\":1000000,\"at_once\":1,\"target\":\"tiny\"},"                             \
    "{\"name\":\"spawn/" strategy "/threads:1000\",\"strategy\":\"" strategy                       \
    "\",\"rss\":0,\"gap\":1000000,\"at_once\":1,\"target\":\"tiny\"}"

/* Of a, which rises, over b, which does not but costs 240 at first. In the other rounds both are
 * flat.
 */
static struct estimate crossing(int rounds, int that_cross) {
    fprintf(file,
            "{\"kind\":\"run\",\"schema\":1,\"matrix\":\"standard\",\"rounds\":%d,"
            "\"host\":{\"cpu\":\"x\",\"cpus\":2,\"virtual\":false,\"kernel\":\"6\",\"libc\":\"g\","
            "\"page_size\":4096},\"cells\":[" THREADS("a") "," THREADS("b") "]}\n",
            rounds + 1);
    for (int round = 0; round < rounds; round++) {
        add(round, "spawn/a", "[100]");
        add(round, "spawn/a/threads:1000", round < that_cross ? "[200]" : "[100]");
        add(round, "spawn/b", "[240]");
        add(round, "spawn/b/threads:1000", "[240]");
    }
    add(rounds, "spawn/a", "[100]");
    add(rounds, "spawn/a/threads:1000", "[200]");
    add(rounds, "spawn/b", "[240]"); /* no line, so this round tells nothing */
    struct run *run = read_back();
    const struct cell *a = run_cell(run, "spawn/a"), *b = run_cell(run, "spawn/b");
    struct estimate found = estimate_crossing_along(run, "threads", a, b, CALL);
    run_free(run);
    return found;
}

static void rounds_whose_lines_never_cross_count(void **state) {
    (void)state;
    struct estimate few = crossing(20, 7);
    assert_int_equal(few.rounds, 20);
    assert_true(isinf(few.value) && isinf(few.ci.high));
}

static void an_end_of_the_interval_may_be_at_no_value(void **state) {
    (void)state;
    struct estimate most = crossing(20, 11);
    equal(most.value, 1400);
    equal(most.ci.low, 1400);
    assert_true(isinf(most.ci.high));
}

static void lines_that_cross_in_each_round_have_a_finite_interval(void **state) {
    (void)state;
    struct estimate all = crossing(20, 20);
    equal(all.value, 1400);
    equal(all.ci.high, 1400);
}

/* A malloced list of whole numbers that follow each other. */
static char *numbers(int first, int count) {
    char *list = NULL;
    size_t length;
    FILE *text = open_memstream(&list, &length);
    assert_non_null(text);
    for (int i = 0; i < count; i++)
        fprintf(text, "%c%d", i ? ',' : '[', first + i);
    fputc(']', text);
    fclose(text);
    return list;
}

static void a_percentile_needs_samples(void **state) {
    (void)state;
    assert_false(enough_for(499, 0.99));
    assert_true(enough_for(500, 0.99));
    assert_true(enough_for(100, 0.95));
    fprintf(file, HOST, 2);
    for (int round = 0; round < 2; round++) {
        char *samples = numbers(250 * round + 1, 250);
        add(round, "spawn/a", samples);
        free(samples);
    }
    add(0, "spawn/b", "[3,9,4]");
    struct run *run = read_back();
    struct tail enough = tail(run, run_cell(run, "spawn/a"), CALL, 0.99);
    assert_false(enough.is_maximum);
    equal(enough.ns, 1 + 0.99 * 499);
    struct tail few = tail(run, run_cell(run, "spawn/b"), CALL, 0.99);
    assert_true(few.is_maximum);
    equal(few.ns, 9);
    struct estimate pooled = estimate_percentile(run, run_cell(run, "spawn/a"), CALL, 0.99);
    equal(pooled.value, 1 + 0.99 * 499);
    equal(pooled.ci.low, 248); /* round 0 drawn twice */
    equal(pooled.ci.high, 498);
    run_free(run);
}

static void noise_is_weighted(void **state) {
    (void)state;
    fprintf(file, HOST, 1);
    const char block[] = "{\"kind\":\"block\",\"seconds\":%g,\"steal\":%g,\"load\":%g}\n";
    fprintf(file, block, 1.0, 0.1, 0.2);
    fprintf(file, block, 19.0, 0.0, 3.0);
    fprintf(file, block, 0.0, 0.5, 0.4);
    struct run *run = read_back();
    struct noise found = noise(run);
    equal(found.steal, 0.005);
    equal(found.load, 0.4);
    assert_true(found.known);
    assert_false(found.high);
    run->blocks[0].steal = 0.3;
    assert_true(noise(run).high);
    run->blocks[0].steal = 0;
    run->blocks[0].load = 1.6;
    assert_true(noise(run).high);
    run->blocks[0].seconds = run->blocks[1].seconds = 0;
    equal(noise(run).steal, 0);
    run->block_count = 0;
    assert_false(noise(run).known);
    run_free(run);
}

static void states_are_counted(void **state) {
    (void)state;
    fprintf(file, HOST, 2);
    add(0, "spawn/a", "[1]");
    fputs("{\"kind\":\"cell\",\"round\":1,\"cell\":\"spawn/a\",\"state\":\"timeout\","
          "\"reason\":\"60 s\"}\n",
          file);
    struct run *run = read_back();
    assert_int_equal(count_state(run, MEASURED), 1);
    assert_int_equal(count_state(run, TIMEOUT), 1);
    assert_int_equal(count_state(run, NOT_RUN), 6);
    assert_int_equal(count_rounds(run, run_cell(run, "spawn/a")), 1);
    run_free(run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_figure_is_the_median_of_the_p50s),
        TEST(one_round_has_no_interval),
        TEST(comparisons_are_paired_by_round),
        TEST(growth_is_a_line_a_round),
        TEST(a_figure_at_any_size_comes_from_the_lines),
        TEST(what_is_not_known_to_grow_is_not_drawn_on),
        TEST(a_size_that_was_measured_has_its_own_figure),
        TEST(rounds_whose_lines_never_cross_count),
        TEST(an_end_of_the_interval_may_be_at_no_value),
        TEST(lines_that_cross_in_each_round_have_a_finite_interval),
        TEST(a_percentile_needs_samples),
        TEST(noise_is_weighted),
        TEST(states_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
