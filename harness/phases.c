#include "phases.h"

#include <stdio.h>
#include <stdlib.h>

#include "../cases/interval_names.h"

static json_int_t number_at(const json_t *array, size_t i) {
    return json_integer_value(json_array_get(array, i));
}

static json_int_t number_of(const json_t *line, const char *key) {
    return json_integer_value(json_object_get(line, key));
}

/* The sample within which a creation was asked for; -1: none, it was not recorded. */
static ssize_t find_sample(const json_t *called, const json_t *total, json_int_t asked) {
    size_t low = 0, high = json_array_size(called);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (number_at(called, middle) <= asked)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || asked > number_at(called, low - 1) + number_at(total, low - 1))
        return -1;
    return (ssize_t)low - 1;
}

static void add(json_t *phases, const char *name, json_int_t ns) {
    json_t *column = json_object_get(phases, name);
    if (!column) {
        column = json_array();
        json_object_set_new(phases, name, column);
    }
    json_array_append_new(column, json_integer(ns));
}

/* Those of a call, ready and total are told by what lies beyond them. */
static const char *const intervals[] = {INTERVAL_NAMES};

static void add_intervals(json_t *phases, const json_t *line) {
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++)
        if (json_object_get(line, intervals[i]))
            add(phases, intervals[i], number_of(line, intervals[i]));
}

/*
 * `lines` has that of each sample. The kernel's moments lie within the caller's, so what lies
 * beyond is never negative, but where two readings of the clock are not in their order: across an
 * update of its base the kernel's own may go back. Then the figure tells nothing, and is left out.
 */
static void add_beyond(json_t *phases, const json_t *own, const json_t **lines, size_t count,
                       const char *figure) {
    char name[32];
    json_t *column = json_array();
    bool in_order = true;
    for (size_t n = 0; own && n < count && in_order; n++) {
        if (!json_object_get(lines[n], figure))
            continue;
        json_int_t beyond = number_at(own, n) - number_of(lines[n], figure);
        in_order = beyond >= 0;
        json_array_append_new(column, json_integer(beyond));
    }
    snprintf(name, sizeof name, "beyond_%s", figure);
    if (in_order && json_array_size(column) > 0)
        json_object_set(phases, name, column);
    json_decref(column);
}

static void add_all_beyond(json_t *phases, const json_t *said, const json_t **lines, size_t count) {
    static const char *const figures[] = {"call", "ready", "total"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_beyond(phases, json_object_get(said, figures[i]), lines, count, figures[i]);
}

json_t *phases_of_cell(const json_t *traced, const json_t *said, bool elsewhere) {
    const json_t *called = json_object_get(said, "called"), *total = json_object_get(said, "total");
    size_t count = json_array_size(called), seen = 0, filled = 0, n;
    json_t *line;
    const json_t **lines = calloc(count + 1, sizeof *lines);
    json_t *phases = lines ? json_object() : NULL;
    json_array_foreach(traced, n, line) {
        ssize_t sample = -1;
        if (phases && json_object_get(line, "asked"))
            sample = find_sample(called, total, number_of(line, "asked"));
        if (sample < 0)
            continue;
        add_intervals(phases, line);
        seen++;
        filled += !lines[sample];
        lines[sample] = line;
    }
    if (phases && seen == count && filled == count && !elsewhere)
        add_all_beyond(phases, said, lines, count);
    free(lines);
    if (seen > 0)
        return phases;
    json_decref(phases);
    return NULL;
}

/* forkless-trace has several kinds; a stack that was left out is no event. */
json_int_t phases_count_lost(const json_t *traced) {
    const json_t *last = json_array_get(traced, json_array_size(traced) - 1);
    const json_t *lost = json_object_get(last, "lost");
    if (json_is_object(lost))
        return number_of(lost, "records") + number_of(lost, "entries");
    return lost ? json_integer_value(lost) : -1;
}
