#include "options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cases/units.h"
#include "program.h"

const char *argp_program_version = "forkless-trace " FORKLESS_VERSION;

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "This process and all that descend from it; else the whole host", 0},
    {"summary", 's', NULL, 0, "At the end, what each program pays, why, and what it could do", 0},
    {"forbid", 'f', "fork", 0, "Only forks whose child went on to exec; one of them: exit status 5",
     0},
    {"phases", 'P', NULL, 0, "How long each phase took, from the call to the end of the child", 0},
    {"longer-than", 'l', "TIME", 0, "Only calls that held their caller so long, such as 1ms", 0},
    {"duration", 'd', "TIME", 0, "End after this time, such as 10s", 0},
    {"count", 'n', "N", 0, "End after so many creations", 0},
    {"json", 'j', NULL, 0, "JSON lines", 0},
    {"output", 'o', "FILE", 0, "Write there instead of to standard output", 0},
    {0},
};

static uint64_t read_time(struct argp_state *state, const char *option, const char *text) {
    uint64_t ns;
    if (!time_parse(text, &ns) || ns == 0)
        argp_failure(state, USAGE, 0, "%s: '%s' is no time, such as 500us, 20ms or 10s", option,
                     text);
    return ns;
}

static uint64_t read_count(struct argp_state *state, const char *text) {
    uint64_t count;
    if (!count_parse(text, 1, INT_MAX, &count))
        argp_failure(state, USAGE, 0, "--count: '%s' is no number of creations", text);
    return count;
}

static pid_t read_pid(struct argp_state *state, const char *text) {
    uint64_t pid;
    if (!count_parse(text, 1, INT_MAX, &pid))
        argp_failure(state, USAGE, 0, "--pid: '%s' is not the number of a process", text);
    return (pid_t)pid;
}

static void check(struct argp_state *state, const struct options *o) {
    if (o->pid && o->command)
        argp_failure(state, USAGE, 0, "either --pid or a command, not both");
    if (o->forbid && o->summary)
        argp_failure(state, USAGE, 0, "either --forbid or --summary, not both");
    if (o->forbid && o->phases)
        argp_failure(state, USAGE, 0, "either --forbid or --phases, not both");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'p':
        o->pid = read_pid(state, text);
        return 0;
    case 's':
        o->summary = true;
        return 0;
    case 'f':
        if (strcmp(text, "fork") != 0)
            argp_failure(state, USAGE, 0, "--forbid: '%s' cannot be forbidden, only fork", text);
        o->forbid = true;
        return 0;
    case 'P':
        o->phases = true;
        return 0;
    case 'l':
        o->longer_than = read_time(state, "--longer-than", text);
        return 0;
    case 'd':
        o->duration = read_time(state, "--duration", text);
        return 0;
    case 'n':
        o->count = read_count(state, text);
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case 'o':
        o->output = text;
        return 0;
    case ARGP_KEY_ARGS:
        o->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_SUCCESS:
        check(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void options_read(struct options *o, int argc, char **argv) {
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[-- COMMAND [ARGUMENT...]]",
        .doc = "Shows each creation of a process: who, how, how long it held its caller, and what "
               "the child did first.\v"
               "Needs CAP_BPF and CAP_PERFMON (root has them). Ends with the command, with "
               "process PID, or with Ctrl-C. Exit status: that of the command; 0 well, 1 internal "
               "or the output could not be written, 2 usage or no such process, 4 the kernel or a "
               "missing privilege does not allow it, 5 --forbid found something, 6 --forbid cannot "
               "tell, 130 interrupted.",
    };
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    /* In order: the command's own options are not ours. */
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, o);
}
