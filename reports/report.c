#include "analysis.h"
#include "bounds.h"
#include "check.h"
#include "judge.h"
#include "output.h"
#include "predict.h"
#include "program.h"
#include "replace.h"
#include "second_clock.h"
#include "splice.h"
#include "units.h"

#include <argp.h>
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of the addresses of x86_64 and aarch64. */
static const int64_t LARGEST = 128LL << 40;

const char *argp_program_version = "forkless-report " FORKLESS_VERSION;

struct arguments {
    const char *bounds;
    const char *format;
    const char *output;
    const char *splice;
    const char *predict;
    const char *clock;
    const char *run;
};

static void refuse_pairs(const struct arguments *arguments, struct argp_state *state) {
    const char *const options[][2] = {{"--bounds", arguments->bounds},
                                      {"--predict", arguments->predict},
                                      {"--splice", arguments->splice},
                                      {arguments->output ? "--output" : "--format",
                                       arguments->output ? arguments->output : arguments->format}};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i][1])
            continue;
        if (first)
            argp_error(state, "%s and %s exclude each other", first, options[i][0]);
        first = options[i][0];
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct arguments *arguments = state->input;
    switch (key) {
    case 'b':
        arguments->bounds = argument;
        return 0;
    case 'f':
        arguments->format = argument;
        return 0;
    case 'o':
        arguments->output = argument;
        return 0;
    case 's':
        arguments->splice = argument;
        return 0;
    case 'c':
        arguments->clock = argument;
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
        refuse_pairs(arguments, state);
        if (arguments->clock && (arguments->bounds || arguments->predict || arguments->splice))
            argp_error(state, "--second-clock goes with a report alone");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Says one malloced sentence. */
static void say(char *error) {
    warnx("%s", error);
    free(error);
}

/* From the name, or else from the file's ending. */
static enum format choose_format(const struct arguments *arguments) {
    enum format format = TEXT;
    if (arguments->format && !find_format(arguments->format, &format))
        errx(USAGE, "--format: '%s' is none of text, html, markdown, csv, json, google-benchmark",
             arguments->format);
    if (!arguments->format && arguments->output && !find_format_of(arguments->output, &format))
        errx(USAGE, "--output: '%s' does not end in .html, .md, .csv, .json or .txt",
             arguments->output);
    return format;
}

/* NULL when none is asked for. */
static struct second_clock *read_clock(const char *path, const struct run *run) {
    char *error;
    struct second_clock *clock = path ? second_clock_read(path, &error) : NULL;
    if (path && (!clock || !second_clock_fits(clock, run, &error)))
        errx(USAGE, "%s", error);
    return clock;
}

static int report(const struct arguments *arguments, const struct run *run) {
    enum format format = choose_format(arguments);
    if (arguments->clock && format != TEXT && format != HTML && format != MARKDOWN)
        errx(USAGE, "--second-clock is shown in text, html and markdown alone");
    struct second_clock *clock = read_clock(arguments->clock, run);
    const char *path = arguments->output;
    char *error = NULL, *lacking;
    if (path && !may_replace(path, run, &error)) {
        say(error);
        return USAGE;
    }
    size_t length;
    char *text = render(run, clock, format, &length, &lacking);
    if (clock)
        second_clock_free(clock);
    if (path)
        replace_file(path, text, length, &error);
    else
        fwrite(text, 1, length, stdout);
    free(text);
    if (lacking)
        say(lacking);
    if (error) {
        say(error);
        return INTERNAL;
    }
    return count_state(run, FAILED) || count_state(run, TIMEOUT) ? CELLS_FAILED : GOOD;
}

static int splice_into(const char *path, const struct run *run) {
    char *error;
    bool is_usage;
    if (splice(path, run, &error, &is_usage))
        return GOOD;
    say(error);
    return is_usage ? USAGE : INTERNAL;
}

static int check(const char *path, const struct run *run) {
    char *error;
    struct bounds bounds;
    if (!bounds_read(path, &bounds, &error)) {
        say(error);
        return USAGE;
    }
    size_t missed = check_bounds(&bounds, run, stdout);
    bounds_free(&bounds);
    return missed ? SAID_NO : GOOD;
}

static int predict(int64_t bytes, const struct run *run) {
    char *error;
    if (predict_print(run, bytes, stdout, &error))
        return GOOD;
    say(error);
    return UNSUPPORTED_RUN;
}

int main(int argc, char **argv) {
    static const struct argp_option options[] = {
        {"bounds", 'b', "BOUNDS", 0, "Check the bounds in the file BOUNDS instead", 0},
        {"output", 'o', "FILE", 0,
         "Write to FILE, as what its name ends in: .html, .md, .csv, .json or .txt", 0},
        {"format", 'f', "NAME", 0,
         "Write as text, html, markdown, csv, json (the analysis) or google-benchmark, whatever "
         "FILE is called",
         0},
        {"splice", 's', "FILE", 0, "Put it between the markers of the Markdown file FILE instead",
         0},
        {"second-clock", 'c', "FILE", 0, "Show what FILE of scripts/second-clock says beside it",
         0},
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
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like any other */

    char *error;
    int64_t bytes = 0;
    if (arguments.predict && !parse_size(arguments.predict, &bytes))
        errx(USAGE, "--predict: '%s' is no size such as 1073741824, 512MiB or 1GiB",
             arguments.predict);
    if (bytes > LARGEST)
        errx(USAGE, "--predict: no process has more than 128TiB");
    struct run *run = read_judged(arguments.run, &error);
    if (!run) {
        say(error);
        return USAGE;
    }
    int status = arguments.bounds    ? check(arguments.bounds, run)
                 : arguments.predict ? predict(bytes, run)
                 : arguments.splice  ? splice_into(arguments.splice, run)
                                     : report(&arguments, run);
    run_free(run);
    return finish_output("report", status);
}
