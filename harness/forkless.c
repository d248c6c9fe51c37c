/* forkless: runs the programs that stand beside it, as git does. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"
#include "similar.h"

enum { INTERNAL = 1, USAGE = 2, UNSUPPORTED = 4 };

const char *argp_program_version = "forkless " FORKLESS_VERSION;

/* `lacks` is why this build does not have it, or empty; harness/meson.build knows. */
static const struct program {
    const char *name, *lacks, *summary;
} programs[] = {
    {"bench", BENCH_LACKS, "Measures what starting a process costs here"},
    {"compare", COMPARE_LACKS, "Says what differs between two runs, and gates on it"},
    {"cow", COW_LACKS, "Shows what makes processes copy memory that they share"},
    {"doctor", DOCTOR_LACKS, "Says what colours figures here, and what a process pays for a child"},
    {"report", REPORT_LACKS, "Says what a run of bench found"},
    {"trace", TRACE_LACKS, "Shows who creates processes here, how, and what it costs them"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, PATH = 4096, WHY = PATH + 64 };

/* Whether it can be run; its path, or why not, in words that follow its name. */
static bool find(const struct program *program, char *path, char *why) {
    bool fits = path_program(program->name, path, PATH);
    if (program->lacks[0])
        snprintf(why, WHY, "%s", program->lacks);
    else if (!fits)
        snprintf(why, WHY, "cannot be found: its path is too long, or there is no /proc");
    else if (access(path, F_OK) < 0)
        snprintf(why, WHY, "is missing: %s: %s", path, strerror(errno));
    else
        return true;
    return false;
}

static void fill_list(struct argp_option *list) {
    static char texts[PROGRAMS][WHY + 128];
    char path[PATH], why[WHY];
    *list++ = (struct argp_option){.doc = "Commands:", .group = 1};
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (find(&programs[i], path, why))
            snprintf(texts[i], sizeof texts[i], "%s", programs[i].summary);
        else
            snprintf(texts[i], sizeof texts[i], "%s (not here: it %s)", programs[i].summary, why);
        *list++ = (struct argp_option){.name = programs[i].name,
                                       .flags = OPTION_DOC | OPTION_NO_USAGE,
                                       .doc = texts[i],
                                       .group = 1};
    }
    *list++ = (struct argp_option){.name = "help [COMMAND]",
                                   .flags = OPTION_DOC | OPTION_NO_USAGE,
                                   .doc = "Shows this list, or the manual page of a command",
                                   .group = 1};
}

static const struct program *choose(struct argp_state *state, const char *name) {
    const char *names[PROGRAMS + 1] = {[PROGRAMS] = "help"};
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (strcmp(name, programs[i].name) == 0)
            return &programs[i];
        names[i] = programs[i].name;
    }
    const char *meant = similar(name, names, PROGRAMS + 1);
    if (meant)
        argp_failure(state, USAGE, 0, "'%s' is no command; did you mean %s?", name, meant);
    else
        argp_failure(state, USAGE, 0, "'%s' is no command; forkless --help lists them", name);
    return NULL;
}

static void run(struct argp_state *state, const struct program *program, char **argv) {
    char path[PATH], why[WHY], name[64];
    snprintf(name, sizeof name, "forkless-%s", program->name);
    if (!find(program, path, why))
        argp_failure(state, UNSUPPORTED, 0, "%s %s", name, why);
    argv[0] = name;
    execv(path, argv);
    argp_failure(state, INTERNAL, errno, "%s cannot be executed", path);
}

/* Comes back when there is no page, or no man to show it. */
static void show_page(const char *name) {
    char page[PATH];
    if (path_page(name, page, sizeof page) && access(page, R_OK) == 0)
        execlp("man", "man", page, NULL);
}

static void help(struct argp_state *state, char **argv) {
    char name[64], *arguments[] = {NULL, "--help", NULL};
    if (!argv[1])
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    if (argv[2])
        argp_failure(state, USAGE, 0, "help: one command at a time");
    const struct program *program = choose(state, argv[1]);
    snprintf(name, sizeof name, "forkless-%s", program->name);
    show_page(name);
    run(state, program, arguments);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    char **argv = state->argv + state->next - 1; /* from the command on */
    switch (key) {
    case ARGP_KEY_ARG:
        if (strcmp(text, "help") == 0)
            help(state, argv);
        else
            run(state, choose(state, text), argv);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "COMMAND is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv) {
    struct argp_option list[PROGRAMS + 3] = {0};
    const struct argp argp = {.options = list,
                              .parser = parse,
                              .args_doc = "COMMAND [ARGUMENT...]",
                              .doc = "Measures what starting a process costs."
                                     "\vforkless COMMAND --help says what a command takes. Its "
                                     "exit status is that of the command; its own: 0 well, 1 "
                                     "internal, 2 usage, 4 the command is not here."};
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    fill_list(list);
    return argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}
