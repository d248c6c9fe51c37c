#include "judge.h"
#include "memory.h"
#include "pages.h"
#include "program.h"
#include "replace.h"
#include "unlike.h"

#include <argp.h>
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IGNORE_BELOW = 256, FORCE, STRICT };

enum format { TEXT, MARKDOWN, HTML };

const char *argp_program_version = "forkless-compare " FORKLESS_VERSION;

struct arguments {
    const char *paths[2];
    const char *output;
    const char *filter;
    struct question question;
    enum format format;
    bool ignores;
    bool is_forced;
    bool is_strict;
};

static bool parse_share(const char *text, double *share) {
    char *rest;
    *share = strtod(text, &rest) / 100;
    return rest > text && !strcmp(rest, "%") && *share > 0 && *share < 1e6;
}

static bool parse_time(const char *text, double *ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *rest;
    double number = strtod(text, &rest);
    for (size_t i = 0; rest > text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(rest, units[i].name)) {
            *ns = number * units[i].ns;
            return *ns >= 0 && *ns < 1e18;
        }
    return false;
}

static bool parse_figure(const char *text, enum figure *figure) {
    for (*figure = CALL; *figure < SPAWN_FIGURES; (*figure)++)
        if (!strcmp(text, figure_names[*figure]))
            return true;
    return false;
}

static bool parse_format(const char *path, enum format *format) {
    static const struct {
        const char *ending;
        enum format format;
    } endings[] = {{".txt", TEXT}, {".md", MARKDOWN}, {".html", HTML}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(ending, endings[i].ending)) {
            *format = endings[i].format;
            return true;
        }
    return false;
}

static void check_arguments(struct argp_state *state, const struct arguments *arguments) {
    if (!arguments->paths[1])
        argp_error(state, "two runs are needed, A and B");
    if (arguments->ignores && !arguments->question.gated)
        argp_error(state, "--ignore-below goes with --fail-above");
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct arguments *arguments = state->input;
    switch (key) {
    case 'a':
        arguments->question.gated = true;
        if (!parse_share(argument, &arguments->question.fail_above))
            argp_error(state, "--fail-above: '%s' is no share above 0%% such as 5%%", argument);
        return 0;
    case IGNORE_BELOW:
        arguments->ignores = true;
        if (!parse_time(argument, &arguments->question.ignore_below_ns))
            argp_error(state, "--ignore-below: '%s' is no time such as 2us", argument);
        return 0;
    case 'f':
        arguments->filter = argument;
        return 0;
    case 'g':
        if (!parse_figure(argument, &arguments->question.figure))
            argp_error(state, "--figure: '%s' is not one of call, ready, total, cpu", argument);
        return 0;
    case 'o':
        arguments->output = argument;
        if (!parse_format(argument, &arguments->format))
            argp_error(state, "--output: '%s' does not end with .txt, .md or .html", argument);
        return 0;
    case FORCE:
        arguments->is_forced = true;
        return 0;
    case STRICT:
        arguments->is_strict = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "two runs at a time");
        arguments->paths[state->arg_num] = argument;
        return 0;
    case ARGP_KEY_END:
        check_arguments(state, arguments);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void compile(const char *filter, regex_t *regex) {
    char why[256];
    int wrong = regcomp(regex, filter, REG_EXTENDED | REG_NOSUB);
    if (!wrong)
        return;
    regerror(wrong, regex, why, sizeof why);
    errx(USAGE, "--filter: '%s': %s", filter, why);
}

static struct run *read_or_exit(const char *path) {
    char *error;
    struct run *run = read_judged(path, &error);
    if (!run)
        errx(USAGE, "%s", error);
    return run;
}

/* With --force what is unlike is said, and that is all. */
static bool is_unlike(const struct arguments *arguments, const struct run *a, const struct run *b) {
    char *hosts = unlike_hosts(a, b);
    char *axes = unlike_axes(a, b, is_asked, &arguments->question);
    bool is_unlike = hosts || axes;
    if (is_unlike)
        warnx("%s and %s are unlike: %s%s%s%s", a->path, b->path, hosts ? hosts : "",
              hosts && axes ? ", " : "", axes ? axes : "",
              arguments->is_forced ? "" : " (--force compares them all the same)");
    free(axes);
    free(hosts);
    return is_unlike && !arguments->is_forced;
}

static size_t count_asked(const struct run *run, const struct question *question) {
    size_t count = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        count += is_asked(&run->cells[i], question);
    return count;
}

static size_t count_common(const struct run *a, const struct run *b,
                           const struct question *question) {
    size_t count = 0;
    for (size_t i = 0; i < a->cell_count; i++)
        count += is_asked(&a->cells[i], question) && run_cell(b, a->cells[i].name);
    return count;
}

/* Why there is nothing to compare; GOOD when there may be. */
static int refuse_runs(const struct arguments *arguments, const struct run *a,
                       const struct run *b) {
    const struct question *question = &arguments->question;
    const struct run *runs[] = {a, b};
    for (size_t i = 0; i < 2; i++)
        if (count_asked(runs[i], question) == 0) {
            if (question->filter)
                warnx("--filter: no cell of %s matches '%s'", runs[i]->path, arguments->filter);
            else
                warnx("%s: there are no cells but floors", runs[i]->path);
            return USAGE;
        }
    if (is_unlike(arguments, a, b))
        return USAGE;
    if (count_common(a, b, question) > 0)
        return GOOD;
    warnx("%s and %s have no cell in common", a->path, b->path);
    return USAGE;
}

static bool has_colours(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb");
}

static void print(const struct arguments *arguments, const struct comparison *comparison,
                  FILE *out) {
    if (arguments->format == HTML)
        print_comparison_html(comparison, out);
    else if (arguments->format == MARKDOWN)
        print_comparison_markdown(comparison, out);
    else
        print_comparison(comparison, !arguments->output && has_colours(), out);
}

/* Whole, or not at all. */
static int write_file(const struct arguments *arguments, const struct comparison *comparison) {
    char *text = NULL, *error = NULL;
    size_t length;
    if (!may_replace(arguments->output, comparison->a, &error) ||
        !may_replace(arguments->output, comparison->b, &error)) {
        warnx("%s", error);
        free(error);
        return USAGE;
    }
    FILE *out = must(open_memstream(&text, &length));
    print(arguments, comparison, out);
    fclose(out);
    bool good = replace_file(arguments->output, must(text), length, &error);
    free(text);
    if (!good)
        warnx("%s", error);
    free(error);
    return good ? GOOD : INTERNAL;
}

static int write_out(const struct arguments *arguments, const struct comparison *comparison) {
    if (arguments->output)
        return write_file(arguments, comparison);
    print(arguments, comparison, stdout);
    return finish_output("comparison", GOOD);
}

static int verdict_of(const struct arguments *arguments, const struct comparison *comparison) {
    if (comparison->beyond > 0)
        return SAID_NO;
    if (comparison->lost > 0)
        return CELLS_FAILED;
    bool unclear = comparison->count_of[INCONCLUSIVE] > 0 || comparison->absent > 0;
    return arguments->is_strict && unclear ? UNCLEAR : GOOD;
}

static int compare(const struct arguments *arguments, const struct run *a, const struct run *b) {
    struct comparison comparison;
    comparison_open(&comparison, a, b, &arguments->question);
    int status = CELLS_FAILED;
    if (comparison.count == 0) {
        const struct note *note = &comparison.notes.list[0];
        warnx("%s and %s have no cell that was measured in both with its floor (%s, %s: %s)",
              a->path, b->path, note->row, note->columns, note->why);
    } else {
        status = write_out(arguments, &comparison);
        if (status == GOOD)
            status = verdict_of(arguments, &comparison);
    }
    comparison_close(&comparison);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp_option options[] = {
        {"fail-above", 'a', "SHARE", 0,
         "Exit with 5 when a cell is slower by more than SHARE, such as 5%, beyond doubt", 0},
        {"figure", 'g', "FIGURE", 0, "Compare call (the default), ready, total or cpu", 0},
        {"filter", 'f', "REGEX", 0, "Only the cells whose names match", 0},
        {"force", FORCE, NULL, 0, "Compare also what is unlike", 0},
        {"ignore-below", IGNORE_BELOW, "TIME", 0,
         "Let pass what is slower by no more than TIME, such as 2us", 0},
        {"output", 'o', "FILE", 0, "Write to FILE as its ending says: .txt, .md, .html", 0},
        {"strict", STRICT, NULL, 0, "Exit with 6 when a cell is inconclusive", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "A B",
        .doc = "Says what differs between two runs of forkless-bench, in multiples of the floor."
               "\vExit status: 0 well, 1 internal, 2 usage, a bad file, or runs that are unlike, 3 "
               "cells that A measured failed in B, in part or in whole, or nothing was measured in "
               "both, 5 slower than --fail-above allows, 6 inconclusive, or missing in B, under "
               "--strict."};
    struct arguments arguments = {.question = {.figure = CALL}};
    regex_t regex;
    argp_err_exit_status = USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (arguments.filter) {
        compile(arguments.filter, &regex);
        arguments.question.filter = &regex;
    }
    struct run *a = read_or_exit(arguments.paths[0]), *b = read_or_exit(arguments.paths[1]);
    int status = refuse_runs(&arguments, a, b);
    if (status == GOOD)
        status = compare(&arguments, a, b);
    run_free(b);
    run_free(a);
    if (arguments.filter)
        regfree(&regex);
    return status;
}
