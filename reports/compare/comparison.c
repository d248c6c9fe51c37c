#include "comparison.h"

#include "floor.h"
#include "memory.h"
#include "problems.h"
#include "rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ALPHA = 0.05;

bool is_asked(const struct cell *cell, const void *question) {
    const struct question *asked = question;
    return !is_null(cell) && !is_floor(cell) &&
           (!asked->filter || !regexec(asked->filter, cell->name, 0, NULL, 0));
}

/* The logarithms of the multiples by round: a shift of these is a ratio. */
static double *logarithms(const struct run *run, const struct cell *cell, enum figure figure) {
    double *values = multiples_by_round(run, cell, figure);
    for (size_t round = 0; round < run->rounds; round++)
        values[round] = log(values[round]);
    return values;
}

/* The differences of the rounds that both have, in place of b. */
static size_t subtract(const double *a, double *b, size_t rounds) {
    for (size_t round = 0; round < rounds; round++)
        b[round] -= a[round];
    return keep_finite(b, rounds);
}

/* Of the logarithms of B's multiples, less an offset, against A's. */
static struct shift shift_cell(const struct comparison *comparison, struct change *change,
                               double offset) {
    enum figure figure = comparison->question.figure;
    size_t a_rounds = comparison->a->rounds, b_rounds = comparison->b->rounds;
    double *a = logarithms(comparison->a, change->a, figure);
    double *b = logarithms(comparison->b, change->b, figure);
    for (size_t round = 0; round < b_rounds; round++)
        b[round] -= offset;
    struct shift shift;
    if (comparison->is_paired) {
        change->b_rounds = subtract(a, b, a_rounds < b_rounds ? a_rounds : b_rounds);
        change->a_rounds = change->b_rounds;
        shift = shift_of_pairs(b, change->b_rounds);
    } else {
        change->a_rounds = keep_finite(a, a_rounds);
        change->b_rounds = keep_finite(b, b_rounds);
        shift = shift_between(a, change->a_rounds, b, change->b_rounds);
    }
    free(b);
    free(a);
    return shift;
}

static void note(struct comparison *comparison, const char *name, const char *column,
                 const struct run *run, const struct cell *cell) {
    char *why = why_missing(run, cell);
    notes_add(&comparison->notes, name, column, why);
    free(why);
}

/* Whether the run has the cell's figure and that of its floor; else a note says why not. */
static bool has_multiple(struct comparison *comparison, const struct run *run,
                         const struct cell *cell, const char *column) {
    const struct cell *floor = find_floor(run, cell);
    enum figure figure = comparison->question.figure;
    if (count_samples(run, cell, figure) == 0) {
        note(comparison, cell->name, column, run, cell);
        return false;
    }
    if (!floor) {
        char *why = sentence("its floor, %s, is not in its block", floor_name(cell));
        notes_add(&comparison->notes, cell->name, column, why);
        free(why);
        return false;
    }
    if (count_samples(run, floor, figure) > 0)
        return true;
    char *why = why_missing(run, floor);
    char *whole = sentence("its floor: %s", why);
    notes_add(&comparison->notes, cell->name, column, whole);
    free(whole);
    free(why);
    return false;
}

/* The cells that both runs have; what cannot be compared is noted. */
static void match(struct comparison *comparison) {
    const struct run *a = comparison->a, *b = comparison->b;
    comparison->changes = must(calloc(a->cell_count + 1, sizeof *comparison->changes));
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *cell = &a->cells[i], *other = run_cell(b, cell->name);
        if (!is_asked(cell, &comparison->question))
            continue;
        bool left = has_multiple(comparison, a, cell, "A");
        if (!other) {
            note(comparison, cell->name, "B", b, NULL);
            comparison->absent += left;
            continue;
        }
        bool right = has_multiple(comparison, b, other, "B");
        bool whole = right && count_rounds(b, other) == b->rounds &&
                     count_rounds(b, find_floor(b, other)) == b->rounds;
        comparison->lost += left && !whole;
        if (!left || !right)
            continue;
        if (!whole)
            notes_add(&comparison->notes, cell->name, "B",
                      "it, or its floor, lacks some rounds, and the others are compared");
        comparison->changes[comparison->count++] = (struct change){.a = cell, .b = other};
    }
    for (size_t i = 0; i < b->cell_count; i++)
        if (is_asked(&b->cells[i], &comparison->question) && !run_cell(a, b->cells[i].name))
            note(comparison, b->cells[i].name, "A", a, NULL);
}

/* Brings the cells of a block together and leaves the order as it is otherwise. */
static void group(struct comparison *comparison) {
    struct change *changes = comparison->changes;
    for (size_t i = 1; i < comparison->count; i++) {
        size_t place = i;
        for (size_t j = i; j-- > 0;)
            if (same_block(changes[j].a, changes[i].a)) {
                place = j + 1;
                break;
            }
        struct change moved = changes[i];
        memmove(&changes[place + 1], &changes[place], (i - place) * sizeof *changes);
        changes[place] = moved;
    }
}

bool begins_block(const struct comparison *comparison, size_t index) {
    const struct change *changes = comparison->changes;
    return index == 0 || !same_block(changes[index - 1].a, changes[index].a);
}

/* One and the same run, resumed or changed in some other way after it was measured. */
static bool is_one_run(const struct run *a, const struct run *b) {
    return a->seed >= 0 && a->seed == b->seed && a->started && b->started &&
           !strcmp(a->started, b->started);
}

/* Pairs that are so few that no p could be low enough are not worth having. */
static bool pairs_tell(const struct comparison *comparison) {
    size_t a = comparison->a->rounds, b = comparison->b->rounds;
    return is_one_run(comparison->a, comparison->b) &&
           least_p_of_pairs(a < b ? a : b) * (double)comparison->count < ALPHA;
}

static bool is_few(const struct comparison *comparison, const struct change *change) {
    double least = comparison->is_paired ? least_p_of_pairs(change->a_rounds)
                                         : least_p(change->a_rounds, change->b_rounds);
    return change->a_rounds < ROUNDS_TO_RELY_ON || change->b_rounds < ROUNDS_TO_RELY_ON ||
           isnan(change->ci.low) || least * (double)comparison->count >= ALPHA;
}

/* Whether so much more of A's time is more than the gate ignores. */
static bool matters(const struct comparison *comparison, const struct change *change,
                    double ratio) {
    double ns = median(comparison->a, change->a, comparison->question.figure);
    return (ratio - 1) * ns > comparison->question.ignore_below_ns;
}

static void judge(struct comparison *comparison, struct change *change) {
    const struct question *question = &comparison->question;
    bool few = is_few(comparison, change);
    bool is_unclear = few;
    change->is_told = !few && change->p < ALPHA;
    if (!few && question->gated) {
        change->is_beyond = change->gate_p < ALPHA && matters(comparison, change, change->ci.low);
        is_unclear = !change->is_beyond && change->ci.high > 1 + question->fail_above &&
                     matters(comparison, change, change->ci.high);
    }
    change->verdict = is_unclear          ? INCONCLUSIVE
                      : !change->is_told  ? SAME
                      : change->ratio < 1 ? FASTER
                                          : SLOWER;
    comparison->few += few;
    comparison->beyond += change->is_beyond;
    comparison->count_of[change->verdict]++;
}

/* Both tests of every cell, each adjusted for all cells. */
static void test(struct comparison *comparison) {
    double *p = must(malloc((comparison->count + 1) * sizeof *p));
    double *gate = must(malloc((comparison->count + 1) * sizeof *gate));
    for (size_t i = 0; i < comparison->count; i++) {
        struct change *change = &comparison->changes[i];
        struct shift beyond =
            shift_cell(comparison, change, log1p(comparison->question.fail_above));
        struct shift shift = shift_cell(comparison, change, 0);
        change->ratio = exp(shift.value);
        change->ci = (struct interval){exp(shift.ci.low), exp(shift.ci.high)};
        p[i] = shift.p;
        gate[i] = beyond.value > 0 ? beyond.p / 2 : 1;
    }
    holm(p, comparison->count);
    holm(gate, comparison->count);
    for (size_t i = 0; i < comparison->count; i++) {
        comparison->changes[i].p = p[i];
        comparison->changes[i].gate_p = gate[i];
    }
    free(gate);
    free(p);
}

void comparison_open(struct comparison *comparison, const struct run *a, const struct run *b,
                     const struct question *question) {
    *comparison =
        (struct comparison){.a = a, .b = b, .question = *question, .notes = {.columns = 2}};
    match(comparison);
    group(comparison);
    comparison->is_paired = pairs_tell(comparison);
    test(comparison);
    for (size_t i = 0; i < comparison->count; i++)
        judge(comparison, &comparison->changes[i]);
}

void comparison_close(struct comparison *comparison) {
    notes_clear(&comparison->notes);
    free(comparison->changes);
}
