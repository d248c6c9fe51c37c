#include "judge.h"
#include "program.h"
#include "second_clock.h"

#include <argp.h>
#include <err.h>
#include <signal.h>
#include <stdlib.h>

/* For scripts/second-clock: whether hyperfine and a run tell the same of each strategy. */

const char *argp_program_version = "clocks " FORKLESS_VERSION;

struct arguments {
    size_t count;
    const char *paths[2];
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (arguments->count == 2)
            argp_error(state, "one FILE and one RUN");
        arguments->paths[arguments->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (arguments->count < 2)
            argp_error(state, "FILE and RUN are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int compare(const struct second_clock *clock, const struct run *run) {
    static const int codes[] = {[AGREES] = GOOD, [UNDECIDED] = UNCLEAR, [DIFFERS] = SAID_NO};
    char *error;
    if (!second_clock_fits(clock, run, &error))
        errx(USAGE, "%s", error);
    return finish_output("comparison", codes[second_clock_print(clock, run, stdout)]);
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        .parser = parse_option,
        .args_doc = "FILE RUN",
        .doc = "Says whether FILE of scripts/second-clock and RUN of forkless-bench agree on each "
               "strategy, in multiples of floor_vfork."
               "\vExit status: 0 all agree within 10 %, 1 internal, 2 usage or a bad file, 5 one "
               "does not, 6 undecided."};
    struct arguments arguments = {0};
    char *error;
    argp_err_exit_status = USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    signal(SIGPIPE, SIG_IGN);
    struct second_clock *clock = second_clock_read(arguments.paths[0], &error);
    if (!clock)
        errx(USAGE, "%s", error);
    struct run *run = read_judged(arguments.paths[1], &error);
    if (!run)
        errx(USAGE, "%s", error);
    int code = compare(clock, run);
    run_free(run);
    second_clock_free(clock);
    return code;
}
