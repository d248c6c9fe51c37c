#include "predict.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "build.h"
#include "paths.h"
#include "program.h"
#include "tool.h"

enum { TRIES = 5 };

struct candidate {
    char path[4096];
    time_t changed;
};

static int newest_first(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return (x->changed < y->changed) - (x->changed > y->changed);
}

/* The local results files, to be freed. */
static struct candidate *list_runs(size_t *count) {
    char folder[4000];
    struct dirent **entries;
    struct stat file;
    *count = 0;
    int n = path_local(folder, sizeof folder) ? scandir(folder, &entries, NULL, NULL) : -1;
    struct candidate *runs = n > 0 ? calloc((size_t)n, sizeof *runs) : NULL;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *end = strrchr(name, '.');
        if (runs && end && strcmp(end, ".jsonl") == 0) {
            struct candidate *run = &runs[*count];
            int length = snprintf(run->path, sizeof run->path, "%s/%s", folder, name);
            if ((size_t)length < sizeof run->path && stat(run->path, &file) == 0 &&
                S_ISREG(file.st_mode)) {
                run->changed = file.st_mtime;
                ++*count;
            }
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    if (runs)
        qsort(runs, *count, sizeof *runs, newest_first);
    return runs;
}

static bool has_default_fork(const json_t *run) {
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(run, "cells"), i, cell) {
        const char *name = json_string_value(json_object_get(cell, "name"));
        if (name && strcmp(name, "spawn/fork") == 0)
            return true;
    }
    return false;
}

/* The first line of a run that came to its end; else NULL. */
static json_t *read_whole(const char *path) {
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    json_t *run = f && getline(&line, &room, f) > 0 ? json_loads(line, 0, NULL) : NULL;
    bool ended = false;
    while (run && getline(&line, &room, f) > 0)
        ended = strstr(line, "\"kind\":\"end\"") && strstr(line, "\"interrupted\":false");
    free(line);
    if (f)
        fclose(f);
    if (ended)
        return run;
    json_decref(run);
    return NULL;
}

/* The same, if it is of this host, with this library and the default target, and has enough rounds
 * for an interval. */
static json_t *read_run(const char *path, const json_t *host) {
    enum { ROUNDS_LEAST = 6 };
    static const char *const same[] = {"cpu", "cpus", "kernel", "libc"};
    json_t *run = read_whole(path), *build = build_describe();
    const char *kind = json_string_value(json_object_get(run, "kind"));
    bool fits = kind && strcmp(kind, "run") == 0 && has_default_fork(run) &&
                json_integer_value(json_object_get(run, "rounds")) >= ROUNDS_LEAST &&
                json_equal(json_object_get(json_object_get(run, "build"), "library"),
                           json_object_get(build, "library"));
    json_decref(build);
    for (size_t i = 0; fits && i < sizeof same / sizeof *same; i++)
        fits = json_equal(json_object_get(json_object_get(run, "host"), same[i]),
                          json_object_get(host, same[i]));
    if (fits)
        return run;
    json_decref(run);
    return NULL;
}

static void describe_age(const json_t *run, char *out, size_t size) {
    static const struct {
        long seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
    const char *started = json_string_value(json_object_get(run, "started"));
    struct tm when = {0};
    if (!started || !strptime(started, "%Y-%m-%dT%H:%M:%SZ", &when)) {
        snprintf(out, size, "measured at some time");
        return;
    }
    double age = difftime(time(NULL), timegm(&when));
    snprintf(out, size, age < 0 ? "measured at %s" : "measured just now", started);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        long n = (long)(age / (double)units[i].seconds);
        if (n < 1)
            continue;
        snprintf(out, size, "measured %ld %s%s ago", n, units[i].name, n > 1 ? "s" : "");
        return;
    }
}

/* What the report makes of one file; its exit status. */
static int ask_report(uint64_t bytes, const char *path, int signals, struct prediction *p) {
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, bytes);
    struct tool report = {.name = "report",
                          .arguments = (const char *const[]){"--predict", number, path, NULL},
                          .signals = signals};
    tool_run(&report);
    p->interrupted = report.interrupted;
    if (report.status == OK)
        p->table = report.output;
    else
        free(report.output);
    snprintf(p->reason, sizeof p->reason, "%s", report.last);
    return report.status;
}

static void try_local_runs(uint64_t bytes, const json_t *host, int signals, struct prediction *p) {
    size_t count;
    char age[64];
    struct candidate *runs = list_runs(&count);
    for (size_t i = 0, tries = 0; i < count && tries < TRIES && !p->table && !p->interrupted; i++) {
        json_t *run = read_run(runs[i].path, host);
        if (!run)
            continue;
        tries++;
        if (ask_report(bytes, runs[i].path, signals, p) == OK) {
            describe_age(run, age, sizeof age);
            snprintf(p->source, sizeof p->source, "%s, %s", runs[i].path, age);
        }
        json_decref(run);
    }
    free(runs);
}

static void calibrate(uint64_t bytes, const char *file, int signals, struct prediction *p) {
    struct tool bench = {.name = "bench",
                         .arguments = (const char *const[]){"calibrate", "-o", file, NULL},
                         .signals = signals};
    fputs("forkless-doctor: no run of this host to go by; measuring for a few seconds\n", stderr);
    tool_run(&bench);
    free(bench.output);
    p->interrupted = bench.interrupted;
    if (p->interrupted)
        return;
    if (bench.status != OK && bench.status != CELLS_FAILED) {
        snprintf(p->reason, sizeof p->reason, "%s", bench.last);
        p->unsupported = bench.status == UNSUPPORTED;
        return;
    }
    p->unsupported = ask_report(bytes, file, signals, p) == UNSUPPORTED;
    snprintf(p->source, sizeof p->source, "a calibration just now");
}

/* In a folder of its own, removed on every path: no signal ends us meanwhile. */
static void try_calibration(uint64_t bytes, int signals, struct prediction *p) {
    char folder[2048], file[2100];
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/forkless-doctor-XXXXXX", above && *above ? above : "/tmp");
    if (!mkdtemp(folder)) {
        snprintf(p->reason, sizeof p->reason, "%.300s cannot be made for a calibration: %s", folder,
                 strerror(errno));
        return;
    }
    snprintf(file, sizeof file, "%s/calibration.jsonl", folder);
    calibrate(bytes, file, signals, p);
    unlink(file);
    rmdir(folder);
}

void predict(uint64_t bytes, const json_t *host, struct prediction *p) {
    sigset_t set, before;
    *p = (struct prediction){0};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &before);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (signals < 0) {
        snprintf(p->reason, sizeof p->reason, "signals cannot be read: %s", strerror(errno));
    } else {
        try_local_runs(bytes, host, signals, p);
        if (!p->table && !p->interrupted)
            try_calibration(bytes, signals, p);
        close(signals);
    }
    if (!p->interrupted) /* else the signal still waits, and would end us before we can say so */
        sigprocmask(SIG_SETMASK, &before, NULL);
}
