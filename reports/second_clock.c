#include "second_clock.h"

#include "fields.h"
#include "host.h"
#include "layout.h"
#include "memory.h"
#include "stats.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1 };
static const double NEAR = 0.1;

#define FLOOR "floor_vfork"

/* The median of the seconds that one storm took, time after time. */
static bool read_seconds(struct source *source, const json_t *object, const char *key,
                         double *seconds) {
    json_t *list;
    if (!field_array(source, object, key, &list))
        return false;
    size_t count = json_array_size(list);
    double *values = must(malloc((count + 1) * sizeof *values));
    bool good = count > 0 || refuse(source, "`%s` has no times", key);
    for (size_t i = 0; good && i < count; i++) {
        values[i] = json_number_value(json_array_get(list, i));
        good = values[i] > 0 || refuse(source, "time %zu of `%s` is no number above 0", i + 1, key);
    }
    *seconds = good ? quantile(values, count, 0.5) : NAN;
    free(values);
    return good;
}

static struct storms *find_or_add(struct second_clock *clock, const char *strategy) {
    for (size_t i = 0; i < clock->count; i++)
        if (!strcmp(clock->strategies[i].strategy, strategy))
            return &clock->strategies[i];
    clock->strategies =
        must(reallocarray(clock->strategies, clock->count + 1, sizeof *clock->strategies));
    struct storms *storms = &clock->strategies[clock->count++];
    storms->strategy = printable(must(strdup(strategy)));
    storms->ns = must(malloc(clock->rounds * sizeof *storms->ns));
    for (size_t round = 0; round < clock->rounds; round++)
        storms->ns[round] = NAN;
    return storms;
}

static bool read_storms(struct source *source, const json_t *times, const char *strategy,
                        size_t round, struct second_clock *clock) {
    char *place = sentence("%s: round %zu, %s", source->path, round, strategy);
    struct source inner = {.path = printable(place)};
    double without, with;
    bool good = read_seconds(&inner, times, "without", &without) &&
                read_seconds(&inner, times, "with", &with);
    free(place);
    source->error = inner.error;
    if (!good)
        return false;
    double ns = (with - without) * 1e9 / (double)clock->children;
    find_or_add(clock, strategy)->ns[round] = ns > 0 && isfinite(ns) ? ns : NAN;
    return true;
}

static bool read_round(struct source *source, json_t *object, size_t round,
                       struct second_clock *clock) {
    const char *strategy;
    json_t *times;
    if (!json_is_object(object))
        return refuse(source, "round %zu is not an object", round);
    json_object_foreach(object, strategy, times) if (!read_storms(source, times, strategy, round,
                                                                  clock)) return false;
    return true;
}

static bool read_file(struct source *source, const json_t *file, struct second_clock *clock) {
    const char *kind = json_string_value(json_object_get(file, "kind"));
    int64_t schema;
    json_t *rounds, *measured;
    if (!kind || strcmp(kind, "second-clock"))
        return refuse(source, "this is no file of scripts/second-clock");
    if (!field_whole(source, file, "schema", 1, &schema))
        return false;
    if (schema > SCHEMA)
        return refuse(source, "schema %jd is newer than %d, the newest known here",
                      (intmax_t)schema, SCHEMA);
    if (!host_read(source, file, &clock->host) ||
        !field_whole(source, file, "children", 1, &clock->children) ||
        !field_object(source, file, "run", &measured) ||
        !field_whole(source, measured, "seed", 0, &clock->seed) ||
        !field_text(source, measured, "started", &clock->started) ||
        !field_array(source, file, "rounds", &rounds))
        return false;
    clock->rounds = json_array_size(rounds);
    if (clock->rounds == 0)
        return refuse(source, "there is no round");
    for (size_t round = 0; round < clock->rounds; round++)
        if (!read_round(source, json_array_get(rounds, round), round, clock))
            return false;
    return true;
}

struct second_clock *second_clock_read(const char *path, char **error) {
    struct source source = {.path = path};
    struct second_clock *clock = must(calloc(1, sizeof *clock));
    clock->path = must(strdup(path));
    json_t *file = load_json(&source);
    bool good = file && read_file(&source, file, clock);
    json_decref(file);
    if (good)
        return clock;
    second_clock_free(clock);
    *error = source.error;
    return NULL;
}

void second_clock_free(struct second_clock *clock) {
    for (size_t i = 0; i < clock->count; i++) {
        free(clock->strategies[i].strategy);
        free(clock->strategies[i].ns);
    }
    free(clock->strategies);
    free(clock->started);
    host_clear(&clock->host);
    free(clock->path);
    free(clock);
}

bool second_clock_fits(const struct second_clock *clock, const struct run *run, char **error) {
    if (!same_host(&clock->host, &run->host))
        *error = sentence("%s and %s are of unlike hosts", clock->path, run->path);
    else if (clock->seed != run->seed || !run->started || strcmp(clock->started, run->started))
        *error = sentence("%s belongs to another run than %s, and other conditions", clock->path,
                          run->path);
    else
        return true;
    return false;
}

static const struct storms *find_storms(const struct second_clock *clock, const char *strategy) {
    for (size_t i = 0; i < clock->count; i++)
        if (!strcmp(clock->strategies[i].strategy, strategy))
            return &clock->strategies[i];
    return NULL;
}

/* Of the storms, over those of another strategy round by round unless that is NULL. */
static struct estimate estimate_storms(const struct second_clock *clock,
                                       const struct storms *storms, const struct storms *over) {
    double *values = must(malloc(clock->rounds * sizeof *values));
    for (size_t round = 0; round < clock->rounds; round++)
        values[round] = storms->ns[round] / (over ? over->ns[round] : 1);
    return estimate(values, clock->rounds);
}

/*
 * The rounds of the two clocks have nothing to do with each other, so the interval of their ratio
 * comes from the two intervals: on the scale of logarithms, where it is a difference, each end is
 * as far away as the two ends' distances are together, as the legs of a right angle (MOVER, Zou and
 * Donner 2008).
 */
static void judge(struct clock_row *row) {
    const struct estimate *top = &row->storm_multiple, *bottom = &row->total_multiple;
    row->ratio = top->value / bottom->value;
    row->ci.low = row->ratio /
                  exp(hypot(log(top->value / top->ci.low), log(bottom->ci.high / bottom->value)));
    row->ci.high = row->ratio *
                   exp(hypot(log(top->ci.high / top->value), log(bottom->value / bottom->ci.low)));
    row->agreement = UNDECIDED;
    if (top->rounds < ROUNDS_TO_RELY_ON || bottom->rounds < ROUNDS_TO_RELY_ON)
        return;
    if (row->ci.low >= 1 - NEAR && row->ci.high <= 1 + NEAR)
        row->agreement = AGREES;
    else if (row->ci.high < 1 - NEAR || row->ci.low > 1 + NEAR)
        row->agreement = DIFFERS;
}

/* What the others are multiples of. */
static bool is_unit(const struct clock_row *row) {
    return !strcmp(row->strategy, FLOOR);
}

static bool is_back_to_back(const struct cell *cell) {
    return !is_null(cell) && is_plain(cell) && cell->axes.rss == 0 && cell->axes.gap == 0 &&
           cell->axes.at_once == 1 && !strcmp(cell->axes.target, DEFAULT_TARGET);
}

const char *describe_agreement(const struct clock_row *row) {
    static const char *const words[] = {
        [AGREES] = "agrees", [UNDECIDED] = "undecided", [DIFFERS] = "differs"};
    return is_unit(row) ? "the unit" : words[row->agreement];
}

static const struct cell *find_back_to_back(const struct run *run, char *strategy) {
    return find_cell(
        run, (struct axes){.strategy = strategy, .at_once = 1, PLAIN, .target = DEFAULT_TARGET});
}

struct clock_row *second_clock_compare(const struct second_clock *clock, const struct run *run,
                                       size_t *count) {
    struct clock_row *rows = must(calloc(run->cell_count, sizeof *rows));
    const struct storms *storm_floor = find_storms(clock, FLOOR);
    const struct cell *floor = find_back_to_back(run, FLOOR);
    *count = 0;
    for (size_t i = 0; storm_floor && floor && i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        const struct storms *storms = find_storms(clock, cell->axes.strategy);
        if (!storms || !is_back_to_back(cell))
            continue;
        struct clock_row *row = &rows[(*count)++];
        *row = (struct clock_row){.strategy = cell->axes.strategy,
                                  .total = estimate_figure(run, cell, TOTAL),
                                  .total_multiple = estimate_ratio(run, cell, floor, TOTAL),
                                  .storm = estimate_storms(clock, storms, NULL),
                                  .storm_multiple = estimate_storms(clock, storms, storm_floor)};
        judge(row);
    }
    return rows;
}

static struct label show_multiple(double multiple) {
    struct label label = {"-"};
    if (isfinite(multiple))
        snprintf(label.text, sizeof label.text, "%.2f", multiple);
    return label;
}

static void set_interval(struct table *table, size_t row, size_t column, struct interval ci) {
    char *text = isfinite(ci.low) && isfinite(ci.high) ? sentence("%.2f to %.2f", ci.low, ci.high)
                                                       : sentence("-");
    table_set(table, row, column, text);
    free(text);
}

static struct label show_time(const struct clock_row *row, double ns) {
    enum unit unit = unit_for(fmax(row->total.value, row->storm.value));
    return isnan(ns) ? (struct label){"-"} : label_time(ns, unit);
}

static void print_heads(struct table *table, const char *const *heads) {
    for (size_t column = 0; column < table->columns; column++)
        table_set(table, 0, column, heads[column]);
}

static void print_values(const struct clock_row *rows, size_t count, FILE *out) {
    static const char *const heads[] = {"", "total", "x floor", "hyperfine", "x floor", "ratio"};
    struct table *table = table_new(count + 1, sizeof heads / sizeof *heads);
    print_heads(table, heads);
    for (size_t i = 0; i < count; i++) {
        const struct clock_row *row = &rows[i];
        table_set(table, i + 1, 0, row->strategy);
        table_set(table, i + 1, 1, show_time(row, row->total.value).text);
        table_set(table, i + 1, 2, show_multiple(row->total_multiple.value).text);
        table_set(table, i + 1, 3, show_time(row, row->storm.value).text);
        table_set(table, i + 1, 4, show_multiple(row->storm_multiple.value).text);
        table_set(table, i + 1, 5, show_multiple(row->ratio).text);
    }
    table_print(table, out);
    table_free(table);
}

static void print_intervals(const struct clock_row *rows, size_t count, FILE *out) {
    static const char *const heads[] = {"95 % intervals", "total", "hyperfine", "ratio",
                                        "within 10 %"};
    struct table *table = table_new(count + 1, sizeof heads / sizeof *heads);
    print_heads(table, heads);
    for (size_t i = 0; i < count; i++) {
        const struct clock_row *row = &rows[i];
        table_set(table, i + 1, 0, row->strategy);
        set_interval(table, i + 1, 1, row->total_multiple.ci);
        set_interval(table, i + 1, 2, row->storm_multiple.ci);
        set_interval(table, i + 1, 3, row->ci);
        table_set(table, i + 1, 4, describe_agreement(row));
    }
    table_print(table, out);
    table_free(table);
}

static void add_name(char **names, const char *name) {
    char *longer = sentence("%s%s %s", *names, **names ? "," : "", name);
    free(*names);
    *names = longer;
}

/* What only one of the clocks has measured. */
static void print_lone(const struct second_clock *clock, const struct run *run, FILE *out) {
    char *names = sentence("%s", "");
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct cell *cell = &run->cells[i];
        if (is_back_to_back(cell) && !find_storms(clock, cell->axes.strategy))
            add_name(&names, cell->axes.strategy);
    }
    for (size_t i = 0; i < clock->count; i++)
        if (!find_back_to_back(run, clock->strategies[i].strategy))
            add_name(&names, clock->strategies[i].strategy);
    if (*names)
        print_named(out, "by one clock only:", sentence("%s", names));
    free(names);
}

static void print_rows(const struct second_clock *clock, const struct run *run,
                       const struct clock_row *rows, size_t count, FILE *out) {
    fprintf(out,
            "One spawn back to back in a small parent, by two clocks: medians over rounds\n"
            "total (%zu rounds), and storms of children under hyperfine (%zu rounds)\n"
            "x floor: in multiples of " FLOOR "\n\n",
            run->rounds, clock->rounds);
    print_values(rows, count, out);
    fputc('\n', out);
    print_intervals(rows, count, out);
    fputc('\n', out);
}

enum agreement second_clock_print(const struct second_clock *clock, const struct run *run,
                                  FILE *out) {
    size_t count, tally[DIFFERS + 1] = {0};
    struct clock_row *rows = second_clock_compare(clock, run, &count);
    for (size_t i = 0; i < count; i++)
        tally[rows[i].agreement] += !is_unit(&rows[i]);
    size_t judged = tally[AGREES] + tally[UNDECIDED] + tally[DIFFERS];
    if (count > 0)
        print_rows(clock, run, rows, count, out);
    else
        fprintf(out, "at rss:0 gap:0 not both have " FLOOR ", of which the others are multiples\n");
    print_lone(clock, run, out);
    fprintf(out, "%zu of %zu agree within %.0f %%, %zu undecided, %zu differ\n", tally[AGREES],
            judged, NEAR * 100, tally[UNDECIDED], tally[DIFFERS]);
    free(rows);
    return tally[DIFFERS] ? DIFFERS : tally[UNDECIDED] || !judged ? UNDECIDED : AGREES;
}
