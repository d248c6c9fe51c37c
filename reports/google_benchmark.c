#include "google_benchmark.h"

#include "analysis.h"
#include "memory.h"
#include "stats.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* What google-benchmark computes over the repetitions that were measured. */
struct aggregate {
    const char *name;
    const char *unit;
    double (*of)(const double *values, size_t count);
};

/* A cell, and its medians in the rounds that measured it. */
struct family {
    const struct run *run;
    const struct cell *cell;
    size_t index;
    size_t count;
    double *real;
    double *cpu;
};

static double mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double middle(const double *values, size_t count) {
    return quantile(values, count, 0.5);
}

static double deviation(const double *values, size_t count) {
    double about = mean(values, count), squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - about) * (values[i] - about);
    return sqrt(squares / (double)(count - 1));
}

static double variation(const double *values, size_t count) {
    double about = mean(values, count);
    return about > 0 ? deviation(values, count) / about : 0;
}

static json_t *describe_context(const struct run *run) {
    json_t *context =
        must(json_pack("{s:s*, s:s, s:I, s:[], s:s, s:s, s:s, s:s, s:s}", "date", run->started,
                       "executable", "forkless-bench", "num_cpus", (json_int_t)run->host.cpus,
                       "caches", "library_build_type", "release", "cpu", run->host.cpu, "kernel",
                       run->host.kernel, "libc", run->host.libc, "matrix", run->matrix));
    struct noise heard = noise(run);
    if (heard.known)
        json_object_set_new(context, "load_avg", must(json_pack("[f]", heard.load)));
    return context;
}

static json_t *describe_entry(const struct family *family, const char *type, char *name) {
    json_t *entry = must(json_pack("{s:s, s:I, s:i, s:s, s:s, s:I, s:I}", "name", name,
                                   "family_index", (json_int_t)family->index,
                                   "per_family_instance_index", 0, "run_name", family->cell->name,
                                   "run_type", type, "repetitions", (json_int_t)family->run->rounds,
                                   "threads", (json_int_t)family->cell->axes.spawners));
    free(name);
    return entry;
}

static void set_times(json_t *entry, size_t iterations, double real, double cpu) {
    json_t *times = must(json_pack("{s:I, s:f, s:f, s:s}", "iterations", (json_int_t)iterations,
                                   "real_time", real, "cpu_time", cpu, "time_unit", "ns"));
    json_object_update(entry, times);
    json_decref(times);
}

static void add_round(struct family *family, size_t round, json_t *entries) {
    const struct measurement *measurement = &family->cell->rounds[round];
    if (measurement->state == NOT_RUN)
        return;
    json_t *entry = describe_entry(family, "iteration", sentence("%s", family->cell->name));
    json_object_set_new(entry, "repetition_index", json_integer((json_int_t)round));
    if (measurement->state == MEASURED) {
        const struct samples *call = &measurement->figures[CALL], *cpu = &measurement->figures[CPU];
        family->real[family->count] = middle(call->ns, call->count);
        family->cpu[family->count] = middle(cpu->ns, cpu->count);
        set_times(entry, call->count, family->real[family->count], family->cpu[family->count]);
        family->count++;
    } else {
        char *why = sentence("%s: %s", state_names[measurement->state], measurement->reason);
        json_object_set_new(entry, "error_occurred", json_true());
        json_object_set_new(entry, "error_message", must(json_string(why)));
        set_times(entry, 0, 0, 0);
        free(why);
    }
    json_array_append_new(entries, entry);
}

static void add_aggregates(const struct family *family, json_t *entries) {
    static const struct aggregate aggregates[] = {{"mean", "time", mean},
                                                  {"median", "time", middle},
                                                  {"stddev", "time", deviation},
                                                  {"cv", "percentage", variation}};
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
        const struct aggregate *aggregate = &aggregates[i];
        json_t *entry = describe_entry(family, "aggregate",
                                       sentence("%s_%s", family->cell->name, aggregate->name));
        json_object_set_new(entry, "aggregate_name", json_string(aggregate->name));
        json_object_set_new(entry, "aggregate_unit", json_string(aggregate->unit));
        set_times(entry, family->count, aggregate->of(family->real, family->count),
                  aggregate->of(family->cpu, family->count));
        json_array_append_new(entries, entry);
    }
}

static void add_cell(const struct run *run, size_t index, json_t *entries) {
    struct family family = {.run = run,
                            .cell = &run->cells[index],
                            .index = index,
                            .real = must(calloc(run->rounds, sizeof(double))),
                            .cpu = must(calloc(run->rounds, sizeof(double)))};
    for (size_t round = 0; round < run->rounds; round++)
        add_round(&family, round, entries);
    if (family.count > 1)
        add_aggregates(&family, entries);
    free(family.real);
    free(family.cpu);
}

void write_google_benchmark(const struct run *run, FILE *out) {
    json_t *entries = must(json_array());
    for (size_t i = 0; i < run->cell_count; i++)
        add_cell(run, i, entries);
    json_t *file =
        must(json_pack("{s:o, s:o}", "context", describe_context(run), "benchmarks", entries));
    json_dumpf(file, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(file);
}
