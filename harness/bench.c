/* forkless-bench: the command line. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "config.h"
#include "host.h"
#include "paths.h"
#include "progress.h"
#include "runner.h"

enum { OK = 0, INTERNAL = 1, USAGE = 2, CELLS_FAILED = 3, UNSUPPORTED = 4, INTERRUPTED = 130 };
enum { ROUNDS_DEFAULT = 8, ROUNDS_MAX = 1000, DEADLINE_DEFAULT_S = 120, DEADLINE_MAX_S = 86400 };

const char *argp_program_version = "forkless-bench " FORKLESS_VERSION;

struct options {
    const char *output, *target, *filter;
    uint64_t rounds, seed, deadline_s;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Results file; it must not be there yet", 0},
    {"rounds", 'r', "N", 0, "Rounds, the sample size: 1 to 1000 (8)", 0},
    {"seed", 's', "N", 0, "Seed of every order in the run (random)", 0},
    {"filter", 'f', "REGEX", 0, "Only the cells whose names match, anywhere in the name (extended)",
     0},
    {"target", 't', "NAME", 0,
     "What is spawned: tiny, silent, static, dynamic, or a path with a slash, to a program that "
     "ends with status 42 (tiny)",
     0},
    {"deadline", 'd', "SECONDS", 0, "How long one block may take (120)", 0},
    {0},
};

static uint64_t number(struct argp_state *state, const char *what, const char *text, uint64_t least,
                       uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-') || n < least || n > most)
        argp_failure(state, USAGE, 0, "%s: '%s' is not a whole number from %llu to %llu", what,
                     text, (unsigned long long)least, (unsigned long long)most);
    return n;
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
        return 0;
    case 'f':
        o->filter = text;
        return 0;
    case 't':
        o->target = text;
        return 0;
    case 'd':
        o->deadline_s = number(state, "--deadline", text, 1, DEADLINE_MAX_S);
        return 0;
    case ARGP_KEY_END:
        if (!o->output || !*o->output)
            argp_failure(state, USAGE, 0, "where to? Name the results file with -o FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
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

static bool find_target(const char *name, char *path, size_t size, bool *stamps) {
    static const char *const known[] = {"tiny", "silent", "static", "dynamic"};
    *stamps = strcmp(name, "tiny") == 0;
    if (strchr(name, '/'))
        return (size_t)snprintf(path, size, "%s", name) < size;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return path_target(name, path, size);
    return false;
}

/* The cells that were asked for; NULL after a complaint, with the exit status in *code. */
static struct matrix *choose_cells(const struct options *o, int *code) {
    regex_t regex;
    char why[256];
    int rc = o->filter ? regcomp(&regex, o->filter, REG_EXTENDED | REG_NOSUB) : 0;
    if (rc != 0) {
        regerror(rc, &regex, why, sizeof why);
        *code = complain(USAGE, "--filter: '%s' is not a regular expression: %s", o->filter, why);
        return NULL;
    }
    struct matrix *matrix = matrix_quick(o->target);
    if (!matrix) {
        *code = complain(INTERNAL, "no memory for the matrix");
        return NULL;
    }
    if (!o->filter)
        return matrix;
    char example[CELL_NAME_SIZE];
    snprintf(example, sizeof example, "%s", matrix->cells[matrix->count - 1].name);
    matrix_filter(matrix, &regex);
    regfree(&regex);
    if (matrix->count > 0)
        return matrix;
    matrix_free(matrix);
    *code = complain(USAGE, "--filter: no cell's name matches '%s'; one of them is %s", o->filter,
                     example);
    return NULL;
}

/* Where the samples are is the one thing that goes to standard output. */
static int measure(struct run *run, const char *path) {
    struct record record;
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a full file are errors like any other */
    signal(SIGXFSZ, SIG_IGN);
    int rc = record_open(&record, path);
    if (rc < 0)
        return complain(USAGE, "%s cannot be made: %s", path, strerror(-rc));
    if (printf("%s\n", path) < 0 || fflush(stdout) < 0) {
        rc = complain(INTERNAL, "standard output cannot be written: %s", strerror(errno));
        unlink(path);
        return rc;
    }
    run->record = &record;
    run->signals = take_signals();
    progress_announce(run->matrix, run->rounds);
    rc = runner_run(run);
    if (rc < 0)
        return complain(INTERNAL, "%s cannot be written: %s; it holds what was measured until then",
                        path, strerror(-rc));
    if (run->interrupted)
        return complain(INTERRUPTED, "interrupted; %s holds what was measured until then", path);
    return run->failed ? CELLS_FAILED : OK;
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

static int bench(const struct options *o) {
    char target[4096];
    struct run run = {
        .rounds = (unsigned)o->rounds, .seed = o->seed, .deadline_s = (unsigned)o->deadline_s};
    if (build_objection())
        return complain(UNSUPPORTED,
                        "this is %s: its figures would mislead; configure with --buildtype=release",
                        build_objection());
    if (!find_target(o->target, target, sizeof target, &run.has_stamps))
        return complain(USAGE,
                        "no target '%s': tiny, silent, static, dynamic, or a path with a slash",
                        o->target);
    struct stat file;
    if (stat(target, &file) < 0 || access(target, X_OK) < 0)
        return complain(USAGE, "the target %s cannot be executed: %s", target, strerror(errno));
    if (!S_ISREG(file.st_mode))
        return complain(USAGE, "the target %s is no file", target);
    int code;
    struct matrix *matrix = choose_cells(o, &code);
    if (!matrix)
        return code;
    run.matrix = matrix;
    run.target_path = target;
    code = measure(&run, o->output);
    matrix_free(matrix);
    return code;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--block") == 0)
        return block_main();
    struct options o = {.rounds = ROUNDS_DEFAULT,
                        .seed = random_seed(),
                        .deadline_s = DEADLINE_DEFAULT_S,
                        .target = "tiny"};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Measures what starting a process costs here, with parents from 0 to 4 GiB, and "
               "keeps every sample in one "
               "results file (forkless-report shows it).\v"
               "Exit status: 0 well, 1 internal or the file could not be written, 2 usage, 3 cells "
               "failed, 4 this build "
               "does not measure, 130 interrupted.",
    };
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    int code = check_standard_files();
    if (code != OK)
        return code;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    return bench(&o);
}
