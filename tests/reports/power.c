/*
 * How often forkless-compare finds a change that is there, and one that is not. Both sides are
 * drawn from the rounds of a real run, with replacement; a twentieth of the trials unless
 * FORKLESS_TEST_LONG is set. The dice are always the same.
 */
#include "test.h"

#include "comparison.h"
#include "floor.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 30, TRIALS = 1000, SHARE = 20, CELLS_NEEDED = 10, MOST_ALARMS = 64 };
static const double STEADY = 0.03; /* the spread of a cell's rounds, by their mean */

static struct run *reference;
static uint64_t dice;

/* splitmix64 by Sebastiano Vigna, public domain. */
static uint64_t roll(void) {
    uint64_t bits = (dice += 0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

static double even(void) {
    return ((double)(roll() >> 11) + 0.5) / (double)(1ULL << 53);
}

static double normal(void) {
    return sqrt(-2 * log(even())) * cos(2 * acos(-1.0) * even());
}

static size_t count_trials(void) {
    return getenv("FORKLESS_TEST_LONG") && *getenv("FORKLESS_TEST_LONG") ? TRIALS : TRIALS / SHARE;
}

/* The spread of the cell's multiples of its floor over the rounds, and their mean. */
static double spread(const struct cell *cell, double *mean) {
    double *values = multiples_by_round(reference, cell, CALL);
    double sum = 0, squares = 0, count = (double)reference->rounds;
    for (size_t round = 0; round < reference->rounds; round++)
        sum += values[round];
    *mean = sum / count;
    for (size_t round = 0; round < reference->rounds; round++)
        squares += (values[round] - *mean) * (values[round] - *mean);
    free(values);
    return sqrt(squares / (count - 1)) / *mean;
}

/* A run of ROUNDS rounds, of one value in each, that is to be filled. */
static struct run *new_run(void) {
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    *run = (struct run){.path = reference->path,
                        .seed = -1,
                        .rounds = ROUNDS,
                        .cell_count = reference->cell_count,
                        .cells = calloc(reference->cell_count, sizeof *run->cells)};
    assert_non_null(run->cells);
    for (size_t i = 0; i < run->cell_count; i++) {
        struct cell *cell = &run->cells[i];
        *cell = (struct cell){.name = reference->cells[i].name,
                              .axes = reference->cells[i].axes,
                              .commands = reference->cells[i].commands,
                              .rounds = calloc(ROUNDS, sizeof *cell->rounds)};
        assert_non_null(cell->rounds);
        for (size_t round = 0; round < ROUNDS; round++) {
            cell->rounds[round].state = MEASURED;
            cell->rounds[round].figures[CALL] = (struct samples){1, calloc(1, sizeof(double))};
            assert_non_null(cell->rounds[round].figures[CALL].ns);
        }
    }
    return run;
}

static void free_run(struct run *run) {
    for (size_t i = 0; i < run->cell_count; i++) {
        for (size_t round = 0; round < ROUNDS; round++)
            free(run->cells[i].rounds[round].figures[CALL].ns);
        free(run->cells[i].rounds);
    }
    free(run->cells);
    free(run);
}

/* Each cell's call by round; where a cell spreads more than `most`, its multiples are drawn in. */
static double **values_within(double most) {
    double **values = calloc(reference->cell_count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < reference->cell_count; i++) {
        const struct cell *cell = &reference->cells[i], *floor = find_floor(reference, cell);
        values[i] = by_round(reference, cell, CALL, 0.5);
        if (!floor)
            continue;
        double mean, found = spread(cell, &mean), *floors = by_round(reference, floor, CALL, 0.5);
        for (size_t round = 0; found > most && round < reference->rounds; round++) {
            double multiple = values[i][round] / floors[round];
            values[i][round] = floors[round] * (mean + (multiple - mean) * most / found);
        }
        free(floors);
    }
    return values;
}

static void free_values(double **values) {
    for (size_t i = 0; i < reference->cell_count; i++)
        free(values[i]);
    free(values);
}

/* Draws the rounds, the same of all cells. */
static void draw(struct run *run, double *const *values, double scale) {
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t drawn = (size_t)(roll() % reference->rounds);
        for (size_t i = 0; i < run->cell_count; i++)
            *run->cells[i].rounds[round].figures[CALL].ns =
                values[i][drawn] * (find_floor(run, &run->cells[i]) ? scale : 1);
    }
}

static size_t count_steady(void) {
    size_t count = 0;
    for (size_t i = 0; i < reference->cell_count; i++) {
        double mean;
        count += find_floor(reference, &reference->cells[i]) &&
                 spread(&reference->cells[i], &mean) <= STEADY;
    }
    return count;
}

static void find_change(double **values, double most) {
    size_t all = 0, found = 0, wrong = 0;
    struct run *a = new_run(), *b = new_run();
    for (size_t trial = 0; trial < count_trials(); trial++) {
        struct comparison comparison;
        draw(a, values, 1);
        draw(b, values, 1.05);
        comparison_open(&comparison, a, b, &(struct question){.figure = CALL});
        assert_true(comparison.count >= CELLS_NEEDED);
        for (size_t i = 0; i < comparison.count; i++) {
            const struct change *change = &comparison.changes[i];
            double mean;
            if (spread(run_cell(reference, change->a->name), &mean) > most)
                continue;
            all++;
            found += change->verdict == SLOWER;
            wrong += change->verdict == FASTER;
        }
        comparison_close(&comparison);
    }
    print_message("found in %.2f %% of %zu, wrong in %zu\n", 100 * (double)found / (double)all, all,
                  wrong);
    assert_true((double)found >= 0.9 * (double)all);
    assert_true((double)wrong <= 0.001 * (double)all);
    free_run(b);
    free_run(a);
    free_values(values);
}

static void a_change_of_5_percent_is_found_in_steady_cells(void **state) {
    (void)state;
    size_t steady = count_steady();
    print_message("%zu cells of the run spread by at most 3 %%\n", steady);
    if (steady >= CELLS_NEEDED)
        find_change(values_within(INFINITY), STEADY);
    else
        print_message("too few to tell by this run: at least %d are needed\n", CELLS_NEEDED);
}

/* Whatever the run, with every cell drawn in until it is just that steady. */
static void a_change_of_5_percent_is_found_in_cells_made_steady(void **state) {
    (void)state;
    find_change(values_within(STEADY), INFINITY);
}

/* As many as 5 % and two standard deviations of it, or of the whole count its limit. */
static void check_alarms(size_t alarms) {
    double trials = (double)count_trials();
    size_t most =
        trials < TRIALS ? (size_t)(0.05 * trials + 2 * sqrt(0.05 * 0.95 * trials)) : MOST_ALARMS;
    print_message("%zu alarms in %.0f pairs, at most %zu\n", alarms, trials, most);
    assert_true(alarms <= most);
}

/* A pair is one alarm, however many of its cells it is in. */
static void count_alarms(double scale, const struct question *question) {
    size_t alarms = 0;
    double **values = values_within(INFINITY);
    struct run *a = new_run(), *b = new_run();
    for (size_t trial = 0; trial < count_trials(); trial++) {
        struct comparison comparison;
        draw(a, values, 1);
        draw(b, values, scale);
        comparison_open(&comparison, a, b, question);
        alarms += question->gated ? comparison.beyond > 0
                                  : comparison.count_of[SLOWER] + comparison.count_of[FASTER] > 0;
        comparison_close(&comparison);
    }
    check_alarms(alarms);
    free_run(b);
    free_run(a);
    free_values(values);
}

/* Every cell is slower by just so much: a false no in 5 % of the pairs at most. */
static void what_the_gate_allows_is_not_refused(void **state) {
    (void)state;
    count_alarms(1.05, &(struct question){.figure = CALL, .gated = true, .fail_above = 0.05});
}

static void what_is_the_same_raises_no_alarm(void **state) {
    (void)state;
    count_alarms(1, &(struct question){.figure = CALL});
}

/* Without Holm's help: one cell alone, of rounds with a long upper tail. */
static void one_cell_alone_raises_no_more(void **state) {
    (void)state;
    size_t alarms = 0;
    regex_t one;
    assert_int_equal(regcomp(&one, "^spawn/vfork$", REG_EXTENDED | REG_NOSUB), 0);
    struct run *runs[] = {new_run(), new_run()};
    for (size_t trial = 0; trial < count_trials(); trial++) {
        struct comparison comparison;
        for (size_t side = 0; side < 2; side++)
            for (size_t i = 0; i < runs[side]->cell_count; i++)
                for (size_t round = 0; round < ROUNDS; round++)
                    *runs[side]->cells[i].rounds[round].figures[CALL].ns =
                        350000 * exp(0.1 * normal() + 0.05 * fabs(normal()));
        comparison_open(&comparison, runs[0], runs[1],
                        &(struct question){.figure = CALL, .filter = &one});
        assert_int_equal(comparison.count, 1);
        alarms += comparison.changes[0].is_told;
        comparison_close(&comparison);
    }
    check_alarms(alarms);
    free_run(runs[1]);
    free_run(runs[0]);
    regfree(&one);
}

static int begin(void **state) {
    (void)state;
    char *error;
    dice = 7;
    reference = run_read(getenv("REFERENCE"), &error);
    return reference ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    run_free(reference);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_change_of_5_percent_is_found_in_steady_cells, begin, end),
        cmocka_unit_test_setup_teardown(a_change_of_5_percent_is_found_in_cells_made_steady, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_the_gate_allows_is_not_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_is_the_same_raises_no_alarm, begin, end),
        cmocka_unit_test_setup_teardown(one_cell_alone_raises_no_more, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
