/* forkless-bench: what was asked for, from its beginning to its exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "block.h"
#include "build.h"
#include "hogs.h"
#include "options.h"
#include "output.h"
#include "plan.h"
#include "program.h"
#include "resume.h"
#include "run_line.h"
#include "runner.h"

/* They are read, so that the file gets its end. */
static int take_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Where the samples are is the one thing that goes to standard output. */
static int say_path(const char *path) {
    puts(path);
    return finish_output(OK);
}

static int measure(struct run *run, const char *path) {
    run->signals = take_signals();
    if (run->signals < 0)
        return complain(INTERNAL, "signals cannot be read: %s", strerror(errno));
    int rc = runner_run(run);
    if (rc < 0)
        return complain(INTERNAL, "%s cannot be written: %s; it holds what was measured until then",
                        path, strerror(-rc));
    if (run->interrupted)
        return complain(INTERRUPTED,
                        "interrupted; %s holds what was measured until then, and --resume goes on",
                        path);
    if (isatty(STDOUT_FILENO))
        fprintf(stderr, "bench: done; forkless report %s\n", path);
    return run->failed ? CELLS_FAILED : OK;
}

/* A run of its own, into a new file. */
static int start(struct run *run, const char *wanted) {
    char path[PATH_SIZE], why[WHY_SIZE];
    struct record record;
    if (!plan_fits_at_all(run->matrix, why, sizeof why))
        return complain(USAGE, "%s", why);
    if (!output_create(&record, wanted, run->matrix->name, path, sizeof path, why, sizeof why))
        return complain(USAGE, "%s", why);
    int code = say_path(path);
    if (code != OK) {
        unlink(path);
        return code;
    }
    run->record = &record;
    plan_sentence(run->matrix, run->rounds, why, sizeof why);
    fprintf(stderr, "bench: %s\n", why);
    return measure(run, path);
}

static int bench(struct options *o) {
    char why[WHY_SIZE];
    int code;
    if (!choice_make(&o->choice, why, sizeof why)) {
        code = complain(USAGE, "%s", why);
    } else if (o->list) {
        plan_list_cells(&o->choice.matrix);
        code = finish_output(OK);
    } else {
        struct run run = {.matrix = &o->choice.matrix,
                          .rounds = o->rounds ? (unsigned)o->rounds : o->choice.recipe->rounds,
                          .seed = o->seed,
                          .deadline_s = (unsigned)o->deadline_s};
        if (!o->plan) {
            code = start(&run, o->output);
        } else {
            plan_print(run.matrix, run.rounds);
            code = plan_fits_at_all(run.matrix, why, sizeof why) ? finish_output(OK)
                                                                 : complain(USAGE, "%s", why);
        }
    }
    choice_clear(&o->choice);
    return code;
}

/* The file does not say where a program of somebody's own is. */
static bool find_targets(const struct options *o, struct past *past, char *why, size_t size) {
    const struct values *paths = &o->choice.overrides.axes[axis_find("target") - axes];
    for (size_t i = 0; i < past->matrix.count; i++) {
        struct cell *cell = &past->matrix.cells[i];
        for (unsigned p = 0; p < paths->count && !target_is_known(cell->target); p++)
            if (strcmp(target_name(paths->text[p]), cell->target) == 0)
                cell->target = paths->text[p];
        if (!target_is_known(cell->target) && !strchr(cell->target, '/')) {
            snprintf(why, size, "its target is a program '%s': say where with --target PATH",
                     cell->target);
            return false;
        }
        if (!run_line_has_target(past->line, i, cell)) {
            snprintf(why, size, "%s is not the program that it was measured with", cell->target);
            return false;
        }
    }
    return targets_are_there(&past->matrix, why, size);
}

static bool may_go_on(const struct options *o, struct past *past, char *why, size_t size) {
    if (o->choice.name && strcmp(o->choice.name, past->matrix.name) != 0)
        snprintf(why, size, "it is a run of the matrix %s, not of %s", past->matrix.name,
                 o->choice.name);
    else if (o->rounds && o->rounds < past->rounds)
        snprintf(why, size, "it has %u rounds, and cannot have fewer", past->rounds);
    else
        return run_line_fits_host(past->line, why, size) && find_targets(o, past, why, size) &&
               plan_fits_at_all(&past->matrix, why, size);
    return false;
}

static int go_on(const struct options *o, struct record *record, struct past *past) {
    unsigned rounds = o->rounds ? (unsigned)o->rounds : past->rounds;
    size_t lacks = past_lacks(past, rounds);
    struct run run = {.matrix = &past->matrix,
                      .record = record,
                      .rounds = rounds,
                      .seed = past->seed,
                      .deadline_s = (unsigned)o->deadline_s,
                      .done = past->done,
                      .failed = past->failed};
    int code = say_path(o->resume);
    if (code != OK)
        return code;
    if (lacks == 0 && past->ended) {
        fprintf(stderr, "bench: nothing is left to do: all %zu cells of %u rounds are there\n",
                past->matrix.count, rounds);
        return past->failed ? CELLS_FAILED : OK;
    }
    fprintf(stderr, "bench: going on; %zu of %zu measurements are left\n", lacks,
            past->matrix.count * rounds);
    int rc = record_cut(record, past->size);
    return rc < 0 ? complain(INTERNAL, "%s cannot be written: %s", o->resume, strerror(-rc))
                  : measure(&run, o->resume);
}

static int resume(const struct options *o) {
    char why[WHY_SIZE];
    struct record record;
    struct past past = {0};
    bool more = o->output || o->has_seed || o->choice.filter || o->choice.overrides.samples;
    for (size_t i = 0; i < axis_count; i++)
        more = more || (o->choice.overrides.axes[i].count && &axes[i] != axis_find("target"));
    if (more || o->list || o->plan)
        return complain(USAGE, "--resume takes all from its file but --rounds, --deadline and the "
                               "path of a --target");
    int rc = record_reopen(&record, o->resume);
    if (rc == -EWOULDBLOCK)
        return complain(USAGE, "%s is being written by another run", o->resume);
    if (rc < 0)
        return complain(USAGE, "%s cannot be opened: %s", o->resume, strerror(-rc));
    int code = past_read(&past, record.fd, why, sizeof why) && may_go_on(o, &past, why, sizeof why)
                   ? go_on(o, &record, &past)
                   : complain(USAGE, "%s: %s", o->resume, why);
    past_clear(&past);
    return code;
}

int main(int argc, char **argv) {
    struct options o;
    if (argc == 2 && strcmp(argv[1], "--block") == 0)
        return block_main();
    if (argc == 2 && strcmp(argv[1], "--hog") == 0)
        hog_main();
    int code = check_standard_files();
    if (code != OK)
        return code;
    options_read(&o, argc, argv);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a full file are errors like any other */
    signal(SIGXFSZ, SIG_IGN);
    if (o.list && !o.choice.name && !o.resume) {
        plan_list_matrices();
        return finish_output(OK);
    }
    if (!o.list && !o.plan && build_objection())
        return complain(UNSUPPORTED,
                        "this is %s: its figures would mislead; configure with --buildtype=release",
                        build_objection());
    if (o.resume)
        return resume(&o);
    if (!o.choice.name)
        o.choice.name = "quick";
    return bench(&o);
}
