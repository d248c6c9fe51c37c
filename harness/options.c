#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "program.h"
#include "units.h"

enum { DEADLINE_DEFAULT_S = 120, DEADLINE_MAX_S = 86400 };

const char *argp_program_version = "forkless-bench " FORKLESS_VERSION;

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
    {"fds", KEY_AXES + AXIS_FDS, "LIST", 0, "Descriptors that the parent has open: 0,19000", 1},
    {"spawners", KEY_AXES + AXIS_SPAWNERS, "LIST", 0, "Threads that spawn at the same moment: 1,64",
     1},
    {"attributes", KEY_AXES + AXIS_ATTRIBUTES, "LIST", 0,
     "What the library's commands ask for: none,fd,..., or each (--list names them)", 1},
    {"target", 't', "LIST", 0,
     "What is spawned: tiny, silent, static, dynamic, mebibyte, or a path with a slash, to a "
     "program that ends with status 42",
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

static uint64_t random_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) < 0)
        seed = (uint64_t)getpid();
    return seed >> 32;
}

void options_read(struct options *o, int argc, char **argv) {
    *o = (struct options){.seed = random_seed(), .deadline_s = DEADLINE_DEFAULT_S};
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
    argp_parse(&argp, argc, argv, 0, NULL, o);
}
