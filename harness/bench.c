/* forkless-bench: the command line. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "block.h"
#include "choose.h"
#include "config.h"
#include "host.h"
#include "output.h"
#include "plan.h"
#include "resume.h"
#include "run_line.h"
#include "runner.h"
#include "units.h"

enum { OK = 0, INTERNAL = 1, USAGE = 2, CELLS_FAILED = 3, UNSUPPORTED = 4, INTERRUPTED = 130 };
enum { DEADLINE_DEFAULT_S = 120, DEADLINE_MAX_S = 86400 };

const char *argp_program_version = "forkless-bench " FORKLESS_VERSION;

struct options {
    const char *output, *resume;
    uint64_t rounds, seed, deadline_s; /* rounds 0: the matrix's */
    bool has_seed, list, plan;
    struct choice choice; /* without a name: quick */
};

/* Keys of the options that have no letter; those of the axes stand in the order of the axes. */
enum { KEY_AXES = 0x100, KEY_SAMPLES = KEY_AXES + AXES, KEY_RESUME };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "Results file; it must not be there yet (a new one in the folder of local runs)", 0},
    {"rounds", 'r', "N", 0, "Rounds, the sample size: 1 to 1000 (the matrix's)", 0},
    {"seed", 's', "N", 0, "Seed of every order in the run (random)", 0},
    {"deadline", 'd', "SECONDS", 0, "How long one block may take (120)", 0},
    {"resume", KEY_RESUME, "FILE", 0,
     "Goes on with a run that was broken off, to the same cells and rounds; with --rounds to more",
     0},
    {"list", 'l', 0, 0, "Lists the matrices; with a MATRIX, the names of its cells", 0},
    {"plan", 'n', 0, 0, "Says what would be run, how long it takes and what does not fit", 0},
    {0, 0, 0, 0, "Which cells:", 1},
    {"filter", 'f', "REGEX", 0, "Only the cells whose names match, anywhere in the name (extended)",
     1},
    {"strategy", KEY_AXES + AXIS_STRATEGY, "LIST", 0,
     "In place of the matrix's: fork,vfork,posix_spawn,clone3,forkless_spawn,...", 1},
    {"rss", KEY_AXES + AXIS_RSS, "LIST", 0, "Sizes of the parent, such as 0,256MiB,1GiB", 1},
    {"gap", KEY_AXES + AXIS_GAP, "LIST", 0, "The parent's own work before each spawn: 0,20us,1ms",
     1},
    {"at-once", KEY_AXES + AXIS_AT_ONCE, "LIST", 0, "Spawns in a burst: 1,16", 1},
    {"target", 't', "LIST", 0,
     "What is spawned: tiny, silent, static, dynamic, or a path with a slash, to a program that "
     "ends with status 42",
     1},
    {"samples", KEY_SAMPLES, "N", 0, "Of each cell in a round, fewer of fork in big parents", 1},
    {0},
};

static uint64_t number(struct argp_state *state, const char *what, const char *text, uint64_t least,
                       uint64_t most) {
    uint64_t n = 0;
    if (!count_parse(text, least, most, &n))
        argp_failure(state, USAGE, 0, "%s: '%s' is not a whole number from %llu to %llu", what,
                     text, (unsigned long long)least, (unsigned long long)most);
    return n;
}

/* What stands between the commas; kept until the process ends. */
static void add_values(struct argp_state *state, struct values *values, char *text) {
    for (char *value; (value = strsep(&text, ","));) {
        char **all = reallocarray(values->text, values->count + 1, sizeof *all);
        if (!all)
            argp_failure(state, INTERNAL, 0, "no memory");
        values->text = all;
        values->text[values->count++] = value;
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->output = text;
        return 0;
    case 'r':
        o->rounds = number(state, "--rounds", text, 1, ROUNDS_MAX);
        return 0;
    case 's':
        o->seed = number(state, "--seed", text, 0, INT64_MAX);
        o->has_seed = true;
        return 0;
    case 'f':
        o->choice.filter = text;
        return 0;
    case 'd':
        o->deadline_s = number(state, "--deadline", text, 1, DEADLINE_MAX_S);
        return 0;
    case 'l':
        o->list = true;
        return 0;
    case 'n':
        o->plan = true;
        return 0;
    case 't':
        add_values(state, &o->choice.overrides.axes[AXIS_TARGET], text);
        return 0;
    case KEY_SAMPLES:
        o->choice.overrides.samples = (unsigned)number(state, "--samples", text, 1, SAMPLES_MAX);
        return 0;
    case KEY_RESUME:
        o->resume = text;
        return 0;
    case ARGP_KEY_ARG:
        if (o->choice.name)
            argp_failure(state, USAGE, 0, "one matrix at a time: %s, and then %s?", o->choice.name,
                         text);
        o->choice.name = text;
        return 0;
    default:
        if (key < KEY_AXES || key >= KEY_AXES + AXIS_TARGET)
            return ARGP_ERR_UNKNOWN;
        add_values(state, &o->choice.overrides.axes[key - KEY_AXES], text);
        return 0;
    }
}

__attribute__((format(printf, 2, 3))) static int complain(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("forkless-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

static uint64_t random_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) < 0)
        seed = (uint64_t)getpid();
    return seed >> 32;
}

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
    if (printf("%s\n", path) >= 0 && fflush(stdout) == 0)
        return OK;
    return complain(INTERNAL, "standard output cannot be written: %s", strerror(errno));
}

static int measure(struct run *run, const char *path) {
    char sentence[160];
    plan_sentence(run->matrix, run->rounds, sentence, sizeof sentence);
    fprintf(stderr, "bench: %s\n", sentence);
    run->signals = take_signals();
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
    return measure(run, path);
}

static int bench(struct options *o) {
    char why[WHY_SIZE];
    int code;
    if (!choice_make(&o->choice, why, sizeof why)) {
        code = complain(USAGE, "%s", why);
    } else if (o->list) {
        plan_list_cells(&o->choice.matrix);
        code = OK;
    } else {
        struct run run = {.matrix = &o->choice.matrix,
                          .rounds = o->rounds ? (unsigned)o->rounds : o->choice.recipe->rounds,
                          .seed = o->seed,
                          .deadline_s = (unsigned)o->deadline_s};
        if (!o->plan) {
            code = start(&run, o->output);
        } else {
            plan_print(run.matrix, run.rounds);
            code = plan_fits_at_all(run.matrix, why, sizeof why) ? OK : complain(USAGE, "%s", why);
        }
    }
    choice_clear(&o->choice);
    return code;
}

/* The file does not say where a program of somebody's own is. */
static bool find_targets(const struct options *o, struct matrix *m, char *why, size_t size) {
    const struct values *paths = &o->choice.overrides.axes[AXIS_TARGET];
    for (size_t i = 0; i < m->count; i++) {
        struct cell *cell = &m->cells[i];
        for (unsigned p = 0; p < paths->count && !target_is_known(cell->target); p++)
            if (strcmp(target_name(paths->text[p]), cell->target) == 0)
                cell->target = paths->text[p];
        if (!target_is_known(cell->target) && !strchr(cell->target, '/')) {
            snprintf(why, size, "its target is a program '%s': say where with --target PATH",
                     cell->target);
            return false;
        }
    }
    return targets_are_there(m, why, size);
}

static bool may_go_on(const struct options *o, struct past *past, char *why, size_t size) {
    if (o->choice.name && strcmp(o->choice.name, past->matrix.name) != 0)
        snprintf(why, size, "it is a run of the matrix %s, not of %s", past->matrix.name,
                 o->choice.name);
    else if (o->rounds && o->rounds < past->rounds)
        snprintf(why, size, "it has %u rounds, and cannot have fewer", past->rounds);
    else
        return run_line_fits_host(past->line, why, size) &&
               find_targets(o, &past->matrix, why, size) &&
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
                      .done = past->done};
    int code = say_path(o->resume);
    if (code != OK)
        return code;
    if (lacks == 0) {
        fprintf(stderr, "bench: nothing is left to do: all %zu cells of %u rounds are there\n",
                past->matrix.count, rounds);
        return OK;
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
    for (enum axis a = 0; a < AXIS_TARGET; a++)
        more = more || o->choice.overrides.axes[a].count;
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

/* A number below 3 that is free would be given to one of our own files. */
static int check_standard_files(void) {
    bool closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close(fd);
    return closed ? complain(INTERNAL, "standard output is closed") : OK;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--block") == 0)
        return block_main();
    struct options o = {.seed = random_seed(), .deadline_s = DEADLINE_DEFAULT_S};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[MATRIX]",
        .doc =
            "Measures what starting a process costs here, and keeps every sample in one results "
            "file (forkless report shows it). MATRIX is quick, the default, or another of --list, "
            "or a file of your own, with a slash or .yaml in its name.\v"
            "The options on cells replace those values in every entry of the matrix.\n\n"
            "Exit status: 0 well, 1 internal or the file could not be written, 2 usage, a bad "
            "file, or no cell fits, 3 cells failed, 4 this build does not measure, 130 "
            "interrupted.",
    };
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    int code = check_standard_files();
    if (code != OK)
        return code;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a full file are errors like any other */
    signal(SIGXFSZ, SIG_IGN);
    if (o.list && !o.choice.name) {
        plan_list_matrices();
        return OK;
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
