/* forkless-cow: what makes a family of processes copy memory that it shares. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cases/units.h"
#include "memory.h"
#include "program.h"
#include "watch.h"

const char *argp_program_version = "forkless-cow " FORKLESS_VERSION;

enum shape { TEXT, JSON, FOLDED };

struct options {
    struct watching watching;
    enum shape shape;
    const char *svg, *plot;
};

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "A process that is there, and its descendants", 0},
    {"duration", 'd', "TIME", 0, "End after this time, such as 30s; else with the last process", 0},
    {"interval", 'i', "TIME", 0, "Between two looks at what is still shared (1s)", 0},
    {"json", 'j', NULL, 0, "All that was found, as JSON", 0},
    {"folded", 'f', NULL, 0, "The stacks alone, one a line with its count", 0},
    {"svg", 's', "FILE", 0, "Draw the stacks as a flame graph, too", 0},
    {"plot", 'P', "FILE", 0, "Draw how much is still shared over time, too (SVG)", 0},
    {0},
};

static uint64_t time_of(struct argp_state *state, const char *option, const char *text) {
    uint64_t ns;
    if (!time_parse(text, &ns) || ns == 0)
        argp_failure(state, USAGE, 0, "--%s: '%s' is no time such as 500ms or 30s", option, text);
    return ns;
}

static pid_t pid_of(struct argp_state *state, const char *text) {
    uint64_t pid;
    if (!count_parse(text, 1, INT_MAX, &pid))
        argp_failure(state, USAGE, 0, "--pid: '%s' is not the number of a process", text);
    return (pid_t)pid;
}

static void set_shape(struct argp_state *state, struct options *o, enum shape shape) {
    if (o->shape != TEXT && o->shape != shape)
        argp_failure(state, USAGE, 0, "--json and --folded both want standard output");
    o->shape = shape;
}

static void check(struct argp_state *state, const struct options *o) {
    if (o->watching.pid && o->watching.command)
        argp_failure(state, USAGE, 0, "-p PID or a command, not both");
    if (!o->watching.pid && !o->watching.command)
        argp_failure(state, USAGE, 0, "what to look at is missing: -p PID, or -- COMMAND");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'p':
        o->watching.pid = pid_of(state, text);
        return 0;
    case 'd':
        o->watching.duration_ns = time_of(state, "duration", text);
        return 0;
    case 'i':
        o->watching.interval_ns = time_of(state, "interval", text);
        return 0;
    case 'j':
        set_shape(state, o, JSON);
        return 0;
    case 'f':
        set_shape(state, o, FOLDED);
        return 0;
    case 's':
        o->svg = text;
        return 0;
    case 'P':
        o->plot = text;
        return 0;
    case ARGP_KEY_ARG: /* the command has the rest */
        o->watching.command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- files ---- */

/* Before it all begins: afterwards is too late. What is there stays as it is. */
static int check_file(const char *path) {
    if (!path)
        return OK;
    bool there = access(path, F_OK) == 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return complain(USAGE, "%s cannot be written: %s", path, strerror(errno));
    close(fd);
    if (!there)
        unlink(path);
    return OK;
}

static int draw(const struct options *o, const struct copies *found) {
    char *why = NULL, title[128];
    if (o->watching.command)
        snprintf(title, sizeof title, "Copies on write: %s", o->watching.command[0]);
    else
        snprintf(title, sizeof title, "Copies on write: process %d and its descendants",
                 (int)o->watching.pid);
    bool drawn = !o->svg || copies_flame(found, title, o->svg, &why);
    drawn = drawn && (!o->plot || copies_plot(found, o->plot, &why));
    if (!drawn)
        complain(INTERNAL, "%s", why);
    free(why);
    return drawn ? OK : INTERNAL;
}

static int show(const struct options *o, const struct copies *found) {
    if (o->shape == JSON)
        copies_json(found, stdout);
    else if (o->shape == FOLDED)
        copies_folded(found, stdout);
    else
        copies_text(found, stdout);
    if (o->shape == FOLDED)
        copies_losses(found, stderr);
    int code = finish_output(OK);
    int drawn = draw(o, found);
    return code != OK ? code : drawn;
}

int main(int argc, char **argv) {
    struct options o = {.watching.interval_ns = UINT64_C(1000000000)};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "-p PID\n[--] COMMAND [ARGUMENT...]",
        .doc = "Counts the pages that a process and its descendants copy because they wrote to "
               "memory that they shared, by mapping and by stack.\vCtrl-C ends it, and shows what "
               "was seen until then. Exit status: 0 well, 1 internal or the output could not be "
               "written, 2 usage, no such process or the command cannot be started, 4 not here (no "
               "privilege, or the kernel lacks something), 130 interrupted.",
    };
    struct copies found = {0};
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    int code = check_standard_files();
    if (code != OK)
        return code;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
    signal(SIGPIPE, SIG_IGN); /* a reader that left is told of as any other output that failed */
    if ((code = check_file(o.svg)) != OK || (code = check_file(o.plot)) != OK)
        return code;
    struct stacks *stacks = must(stacks_new());
    code = watch(&o.watching, stacks, &found);
    if (code == OK || code == INTERRUPTED) {
        int shown = show(&o, &found);
        code = shown != OK ? shown : code;
    }
    copies_free(&found);
    stacks_free(stacks);
    return code;
}
