#include "measure.h"

#include <forkless.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "clock.h"
#include "paths.h"

enum { WARM_UP = 3, COUNT = 20, PAUSE_US = 1000, DEADLINE_S = 5 };

typedef int spawner(const forkless_command *, forkless_child **, forkless_error *);

/* How long one call takes; -1: it failed, or the child did. */
static int64_t time_one(spawner *spawn, const forkless_command *command, forkless_error *error) {
    forkless_child *child;
    forkless_status status;
    int64_t began = now_ns();
    int rc = spawn(command, &child, error);
    int64_t took = now_ns() - began;
    if (rc < 0)
        return -1;
    rc = forkless_wait(child, now_ns() + DEADLINE_S * INT64_C(1000000000), &status, error);
    forkless_child_free(child);
    return rc < 0 ? -1 : took;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The caller does work of its own between two, as in the benchmark's default. */
static int64_t median_of(spawner *spawn, const forkless_command *command, forkless_error *error) {
    int64_t samples[COUNT];
    for (int i = -WARM_UP; i < COUNT; i++) {
        int64_t until = now_ns() + PAUSE_US * 1000, took = time_one(spawn, command, error);
        if (took < 0)
            return -1;
        if (i >= 0)
            samples[i] = took;
        while (now_ns() < until)
            ;
    }
    qsort(samples, COUNT, sizeof *samples, by_size);
    return (samples[COUNT / 2 - 1] + samples[COUNT / 2]) / 2;
}

void measure(struct measured *m) {
    char target[4096];
    forkless_command *command;
    forkless_error error = {0};
    memset(m, 0, sizeof *m);
    const char *objection = build_objection();
    if (objection) {
        snprintf(m->why, sizeof m->why, "%s", objection);
        return;
    }
    if (!path_target("silent", target, sizeof target) || access(target, X_OK) < 0) {
        snprintf(m->why, sizeof m->why, "the target that is spawned is missing");
        return;
    }
    if (forkless_command_new(&command, target) < 0) {
        snprintf(m->why, sizeof m->why, "no memory");
        return;
    }
    m->start = median_of(forkless_start, command, &error);
    m->spawn = m->start < 0 ? -1 : median_of(forkless_spawn, command, &error);
    forkless_command_free(command);
    if (m->spawn >= 0)
        m->count = COUNT;
    else
        forkless_error_print(&error, m->why, sizeof m->why);
}
