/* forkless-doctor: what about this host, or about a process, makes spawns dear. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "examine.h"
#include "host.h"
#include "predict.h"
#include "process.h"
#include "program.h"
#include "words.h"

#define GIB ((double)(1 << 30))

const char *argp_program_version = "forkless-doctor " FORKLESS_VERSION;

struct options {
    pid_t pid; /* 0: none */
    bool json;
};

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "What one spawn would cost this process, by each of the usual ways", 0},
    {"json", 'j', NULL, 0, "The same facts as JSON, without any table", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    struct options *o = state->input;
    char *end;
    switch (key) {
    case 'p':
        errno = 0;
        long pid = strtol(text, &end, 10);
        if (errno || end == text || *end || pid < 1 || pid > INT_MAX)
            argp_failure(state, USAGE, 0, "--pid: '%s' is not the number of a process", text);
        o->pid = (pid_t)pid;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_failure(state, USAGE, 0, "'%s' is no option; a process is named with -p PID", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static json_int_t number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static int print_json(json_t *value) {
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(value);
    return finish_output(OK);
}

/* ---- the host ---- */

/* Those of one level; how many. */
static size_t print_findings(const json_t *findings, const char *level) {
    size_t i, count = 0;
    json_t *one;
    json_array_foreach(findings, i, one) {
        char lead[64];
        if (strcmp(text(one, "level"), level) != 0)
            continue;
        bool good = strcmp(level, "good") == 0;
        if (!good || count == 0)
            snprintf(lead, sizeof lead, "%-8s ", strcmp(level, "warning") ? level : "WARNING");
        else
            snprintf(lead, sizeof lead, "%-8s ", "");
        if (good) {
            size_t used = strlen(lead);
            snprintf(lead + used, sizeof lead - used, "%-14s ", text(one, "name"));
            print_words(lead, "%s", text(one, "found"));
        } else {
            print_words(lead, "%s: %s", text(one, "name"), text(one, "found"));
            print_words("         effect  ", "%s", text(one, "effect"));
            print_words("         next    ", "%s", text(one, "next"));
        }
        count++;
    }
    if (count > 0)
        putchar('\n');
    return count;
}

static void print_verdict(const json_t *findings, size_t warnings, size_t unknown) {
    char names[512] = "";
    size_t i;
    json_t *one;
    json_array_foreach(findings, i, one) {
        size_t used = strlen(names);
        if (strcmp(text(one, "level"), "warning") == 0)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     text(one, "name"));
    }
    if (warnings > 0)
        print_words("", "Figures from this host need care: %zu thing%s colour%s them (%s).",
                    warnings, warnings > 1 ? "s" : "", warnings > 1 ? "" : "s", names);
    else if (unknown > 0)
        print_words("", "Figures from this host can be believed, as far as can be seen from here.");
    else
        print_words("", "Figures from this host can be believed.");
}

static int show_host(bool json) {
    json_t *host = host_describe(), *findings = examine_host();
    if (json)
        return print_json(json_pack("{s:o,s:o,s:o}", "host", host, "build", build_describe(),
                                    "findings", findings));
    print_words("", "%jd x %s, Linux %s, %s, %.1f GiB of memory", (intmax_t)number(host, "cpus"),
                text(host, "cpu"), text(host, "kernel"), text(host, "libc"),
                (double)number(host, "memory") / GIB);
    putchar('\n');
    size_t warnings = print_findings(findings, "warning");
    print_findings(findings, "note");
    size_t unknown = print_findings(findings, "unknown");
    print_findings(findings, "good");
    print_verdict(findings, warnings, unknown);
    json_decref(host);
    json_decref(findings);
    return finish_output(OK);
}

/* ---- a process ---- */

struct amount {
    char text[32];
};

static struct amount amount(uint64_t bytes) {
    struct amount a;
    if (bytes >= UINT64_C(10) << 30)
        snprintf(a.text, sizeof a.text, "%.0f GiB", (double)bytes / GIB);
    else if (bytes >= UINT64_C(1) << 30)
        snprintf(a.text, sizeof a.text, "%.1f GiB", (double)bytes / GIB);
    else if (bytes >= UINT64_C(10) << 20)
        snprintf(a.text, sizeof a.text, "%" PRIu64 " MiB", bytes >> 20);
    else
        snprintf(a.text, sizeof a.text, "%" PRIu64 " KiB", bytes >> 10);
    return a;
}

static void print_count(const char *lead, const struct fact *fact) {
    if (fact->why)
        print_words(lead, "unknown (%s)", strerror(fact->why));
    else
        print_words(lead, "%" PRIu64, fact->value);
}

static void print_facts(const struct process *p) {
    print_words("", "Process %d (%s)", (int)p->pid, p->name);
    print_words("  resident     ", "%s, %s of it anonymous", amount(p->rss).text,
                amount(p->anonymous).text);
    if (p->huge.why)
        print_words("  huge pages   ", "unknown (%s)", strerror(p->huge.why));
    else
        print_words("  huge pages   ", "%s", p->huge.value ? amount(p->huge.value).text : "none");
    print_words("  page tables  ", "%s", amount(p->page_tables).text);
    print_count("  mappings     ", &p->mappings);
    print_words("  threads      ", "%" PRIu64, p->threads);
    print_count("  descriptors  ", &p->descriptors);
    putchar('\n');
}

/* What the table does not have in it. */
static void print_remarks(const struct process *p) {
    enum { MANY_MAPPINGS = 10000 };
    if (p->huge.why && p->anonymous > 0)
        print_words("- ", "What is in huge pages cannot be seen, so all counts as 4 KiB pages.");
    else if (p->huge.value > 0)
        print_words("- ", "Huge pages (%s) are not counted: fork copies them for far less per GiB.",
                    amount(p->huge.value).text);
    if (p->swapped > 0)
        print_words("- ", "Swapped out (%s) is not counted, though fork copies its entries too.",
                    amount(p->swapped).text);
    if (!p->mappings.why && p->mappings.value > MANY_MAPPINGS)
        print_words("- ", "fork also copies each of the %" PRIu64 " mappings: add to its figure.",
                    p->mappings.value);
    if (p->threads > 1)
        print_words("- ", "While fork copies, the other threads wait too when they take a page "
                          "fault.");
}

/* Below the working folder without it. */
static const char *shortened(const char *path) {
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length > 1 && strncmp(path, here, length) == 0 && path[length] == '/';
    return below ? path + length + 1 : path;
}

static int show_costs(const struct process *p) {
    static struct prediction prediction;
    json_t *host = host_describe();
    predict(process_small_pages(p), host, &prediction);
    json_decref(host);
    if (prediction.interrupted)
        return complain(INTERRUPTED, "interrupted");
    if (!prediction.table)
        return complain(prediction.unsupported ? UNSUPPORTED : INTERNAL,
                        "what a spawn would cost it cannot be said: %s", prediction.reason);
    print_words("", "What one spawn would cost it on this host");
    print_words("from ", "%s", shortened(prediction.source));
    printf("\n%s\n", prediction.table);
    free(prediction.table);
    print_remarks(p);
    if (geteuid() != 0 && (p->huge.why || p->mappings.why || p->descriptors.why))
        print_words("next  ", "sudo forkless doctor -p %d  # the facts that are unknown",
                    (int)p->pid);
    print_words("next  ",
                "fork's figure grows with the process, the others do not: spawn with "
                "forkless_start(), forkless_spawn() or posix_spawn(). `forkless bench` gives "
                "the full picture.");
    return finish_output(OK);
}

static int show_process(const struct options *o) {
    struct process p;
    char reason[256];
    if (process_read(o->pid, &p, reason, sizeof reason))
        return complain(USAGE, "%s", reason);
    if (o->json)
        return print_json(process_describe(&p));
    print_facts(&p);
    int code = finish_output(OK);
    return code == OK ? show_costs(&p) : code;
}

int main(int argc, char **argv) {
    struct options o = {0};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Says what about this host colours figures or makes spawns dear or fail, and what "
               "to do about it; with -p, what one spawn would cost a process that runs.\v"
               "Needs no privilege. Exit status: 0 well, 1 internal or the output could not be "
               "written, 2 usage or no such process, 4 this build or host cannot measure what a "
               "spawn would cost, 130 interrupted.",
    };
    argp_err_exit_status = USAGE;
    argv[0] = program_invocation_short_name;
    int code = check_standard_files();
    if (code != OK)
        return code;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    return o.pid ? show_process(&o) : show_host(o.json);
}
