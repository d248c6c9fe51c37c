#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "program.h"
#include "units.h"

enum { DEADLINE_MAX_S = 86400 };

const char *argp_program_version = "forkless-bench " FORKLESS_VERSION;

/* Keys of the options that have no letter; those of the axes stand in the order of the table. */
enum { KEY_AXES = 0x100, KEY_SAMPLES = KEY_AXES + AXES_MAX, KEY_RESUME, KEY_PHASES };
enum { GROUP_OF_CELLS = 1 };

static const struct argp_option options_before[] = {
    {"output", 'o', "FILE", 0,
     "Results file; it must not be there yet (a new one in the folder of local runs)", 0},
    {"rounds", 'r', "N", 0, "Rounds, the sample size: 1 to 1000 (the matrix's)", 0},
    {"seed", 's', "N", 0, "Seed of every order in the run (random)", 0},
    {"deadline", 'd', "SECONDS", 0, "How long one block may take (120, or three times its plan)",
     0},
    {"resume", KEY_RESUME, "FILE", 0,
     "Goes on with a run that was broken off, to the same cells and rounds; with --rounds to more",
     0},
    {"list", 'l', 0, 0, "Lists the matrices; with a MATRIX, the names of its cells", 0},
    {"plan", 'n', 0, 0, "Says what would be run, how long it takes and what does not fit", 0},
    {0, 0, 0, 0, "Which cells:", GROUP_OF_CELLS},
    {"filter", 'f', "REGEX", 0, "Only the cells whose names match, anywhere in the name (extended)",
     GROUP_OF_CELLS},
};
static const struct argp_option options_after[] = {
    {"phases", KEY_PHASES, 0, 0,
     "Each cell once more, in blocks of their own in which the kernel tells where the time of a "
     "spawn goes: --traced no,phases",
     GROUP_OF_CELLS},
    {"samples", KEY_SAMPLES, "N", 0, "Of each cell in a round, fewer of fork in big parents",
     GROUP_OF_CELLS},
    {0},
};
enum {
    BEFORE = sizeof options_before / sizeof *options_before,
    AFTER = sizeof options_after / sizeof *options_after
};

static char names[AXES_MAX][32];

static int key_of(size_t axis) {
    return axes[axis].letter ? axes[axis].letter : KEY_AXES + (int)axis;
}

static void fill_options(struct argp_option options[BEFORE + AXES_MAX + AFTER]) {
    memcpy(options, options_before, sizeof options_before);
    for (size_t i = 0; i < axis_count; i++) {
        axis_option(&axes[i], names[i], sizeof names[i]);
        options[BEFORE + i] = (struct argp_option){.name = names[i] + strlen("--"),
                                                   .key = key_of(i),
                                                   .arg = "LIST",
                                                   .doc = axes[i].means,
                                                   .group = GROUP_OF_CELLS};
    }
    memcpy(&options[BEFORE + axis_count], options_after, sizeof options_after);
}

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

static struct values *traced_values(struct choice *choice) {
    return &choice->overrides.axes[axis_find("traced") - axes];
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
    case KEY_SAMPLES:
        o->choice.overrides.samples = (unsigned)number(state, "--samples", text, 1, SAMPLES_MAX);
        return 0;
    case KEY_PHASES:
        add_values(state, traced_values(&o->choice), strdup("no,phases"));
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
        for (size_t i = 0; i < axis_count; i++)
            if (key == key_of(i)) {
                add_values(state, &o->choice.overrides.axes[i], text);
                return 0;
            }
        return ARGP_ERR_UNKNOWN;
    }
}

static uint64_t random_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) < 0)
        seed = (uint64_t)getpid();
    return seed >> 32;
}

void options_read(struct options *o, int argc, char **argv) {
    struct argp_option options[BEFORE + AXES_MAX + AFTER];
    fill_options(options);
    *o = (struct options){.seed = random_seed()};
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
