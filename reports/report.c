#include "analysis.h"
#include "bounds.h"
#include "check.h"
#include "predict.h"
#include "run.h"
#include "text.h"
#include "units.h"

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GOOD = 0, INTERNAL = 1, USAGE = 2, CELLS_FAILED = 3, UNSUPPORTED_RUN = 4, GATE_SAID_NO = 5 };

const char *argp_program_version = "forkless-report " FORKLESS_VERSION;

struct arguments {
    const char *bounds;
    const char *predict;
    const char *run;
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct arguments *arguments = state->input;
    switch (key) {
    case 'b':
        arguments->bounds = argument;
        return 0;
    case 'p':
        arguments->predict = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->run)
            argp_error(state, "one RUN at a time");
        arguments->run = argument;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->run)
            argp_error(state, "RUN is missing");
        if (arguments->bounds && arguments->predict)
            argp_error(state, "--bounds and --predict exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void refuse_file(char *error) {
    warnx("%s", error);
    free(error);
}

static int report(const struct run *run) {
    text_print(run, stdout);
    return count_state(run, FAILED) || count_state(run, TIMEOUT) ? CELLS_FAILED : GOOD;
}

static int check(const char *path, const struct run *run) {
    char *error;
    struct bounds bounds;
    if (!bounds_read(path, &bounds, &error)) {
        refuse_file(error);
        return USAGE;
    }
    size_t missed = check_bounds(&bounds, run, stdout);
    bounds_free(&bounds);
    return missed ? GATE_SAID_NO : GOOD;
}

static int predict(int64_t bytes, const struct run *run) {
    char *error;
    if (predict_print(run, bytes, stdout, &error))
        return GOOD;
    refuse_file(error);
    return UNSUPPORTED_RUN;
}

int main(int argc, char **argv) {
    static const struct argp_option options[] = {
        {"bounds", 'b', "BOUNDS", 0, "Check the bounds in the file BOUNDS instead", 0},
        {"predict", 'p', "BYTES", 0,
         "Say instead how long one child would hold a caller of this size (such as 1GiB)", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "RUN",
        .doc =
            "Says what RUN, a results file of forkless-bench, found."
            "\vExit status: 0 well, 1 internal, 2 usage or a bad file, 3 cells failed, 4 the run "
            "cannot predict, 5 a bound was missed."};
    struct arguments arguments = {0};
    argp_err_exit_status = USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    signal(SIGPIPE, SIG_IGN);

    char *error;
    int64_t bytes = 0;
    if (arguments.predict && !parse_size(arguments.predict, &bytes))
        errx(USAGE, "--predict: '%s' is no size such as 1073741824, 512MiB or 1GiB",
             arguments.predict);
    struct run *run = run_read(arguments.run, &error);
    if (!run) {
        refuse_file(error);
        return USAGE;
    }
    int status = arguments.bounds    ? check(arguments.bounds, run)
                 : arguments.predict ? predict(bytes, run)
                                     : report(run);
    run_free(run);
    bool lost = ferror(stdout);
    errno = 0;
    if (fclose(stdout) || lost) {
        warnx("cannot write the report: %s", errno ? strerror(errno) : "output error");
        return INTERNAL;
    }
    return status;
}
