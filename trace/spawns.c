/* forkless-trace: who creates processes here, how, and what it costs them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"
#include "creations.h"
#include "hints.h"
#include "json.h"
#include "kernel.h"
#include "lines.h"
#include "options.h"
#include "phases_probe.h"
#include "probe.h"
#include "program.h"
#include "callers.h"
#include "target.h"
#include "verdict.h"

enum { GATE = 5, INCONCLUSIVE = 6, POLL_MS = 50 };
static const int64_t SETTLE_NS = 1100000000; /* a second and a bit: until all are known to run on */

struct trace {
    struct options options;
    struct probe *probe;
    struct phases_probe *phases; /* NULL: they are not asked for */
    struct callers *callers;
    struct creations *creations;
    struct summary summary;
    struct measured measured;
    struct hints *hints;
    struct target target;
    int signals;    /* a signalfd */
    int own_output; /* where a command writes */
    uint64_t shown, forbidden, untold, running;
    int64_t stop; /* creations after that do not count; INT64_MAX: it goes on */
    bool interrupted;
    int failed; /* an exit status; 0: all is well */
};

/* ---- what comes from the kernel ---- */

static int take(void *trace, void *record, size_t size) {
    struct trace *t = trace;
    const struct spawn_created *created = record;
    (void)size;
    int rc;
    if (created->event == SPAWN_CREATED) {
        const char *why;
        const struct trail *trail = callers_trail(t->callers, created, &why);
        rc = creations_created(t->creations, created, trail, why);
    } else {
        rc = creations_then(t->creations, record);
    }
    if (rc < 0)
        t->failed = complain(INTERNAL, "no memory");
    return t->failed ? -1 : 0;
}

static int take_phases(void *trace, void *record, size_t size) {
    struct trace *t = trace;
    (void)size;
    if (creations_phases(t->creations, record) < 0)
        t->failed = complain(INTERNAL, "no memory");
    return t->failed ? -1 : 0;
}

static void look_up_phases(void *trace, struct creation *c) {
    struct trace *t = trace;
    struct phases_record found;
    if (c->child && phases_look_up(t->phases, c->child, &found) && found.id == c->id)
        c->phases = found;
}

static void take_all(struct trace *t) {
    probe_take(t->probe);
    if (t->phases)
        phases_take(t->phases);
}

static bool counts(const struct trace *t, const struct creation *c) {
    const struct options *o = &t->options;
    return c->asked <= t->stop && (uint64_t)c->call >= o->longer_than &&
           (o->count == 0 || t->shown < o->count);
}

static void print(const struct trace *t, const struct creation *c) {
    if (t->options.json)
        json_print(json_creation(c, t->options.phases));
    else
        lines_print(c, t->options.phases);
}

static bool show(void *trace, const struct creation *c) {
    struct trace *t = trace;
    if (!counts(t, c))
        return false;
    if (++t->shown == t->options.count)
        t->stop = c->asked;
    if (!t->options.summary && !t->options.forbid)
        print(t, c);
    return true;
}

static void judge(struct trace *t, const struct creation *c) {
    if (!creation_is_fork(c))
        return;
    if (!creation_execs(c)) {
        t->untold += c->then == THEN_FAILED || c->then == THEN_UNKNOWN;
        t->running += c->then == THEN_RUNS_ON;
        return;
    }
    t->forbidden++;
    print(t, c);
    const char *hint = t->options.json ? NULL : hints_find(t->hints, c->name, c->trail);
    if (hint)
        lines_print_hint(hint);
}

static void settle(void *trace, const struct creation *c) {
    struct trace *t = trace;
    if (t->options.forbid)
        judge(t, c);
    else if (t->options.summary && summary_add(&t->summary, c) < 0)
        t->failed = complain(INTERNAL, "no memory");
}

static void flush(struct trace *t) {
    if (!t->failed && (fflush(stdout) || ferror(stdout)))
        t->failed = finish_output(OK);
}

/* ---- how long it goes on ---- */

static void stop_at(struct trace *t, int64_t when) {
    if (when < t->stop)
        t->stop = when;
}

static void take_signal(struct trace *t) {
    struct signalfd_siginfo info;
    if (read(t->signals, &info, sizeof info) != sizeof info)
        return;
    t->interrupted = true;
    /* A terminal sends its own to the command too. */
    if (t->target.child && !t->target.ended && info.ssi_signo != SIGINT)
        kill(t->target.pid, (int)info.ssi_signo);
}

/* Until something happens; what the kernel has to tell is taken in any case. */
static void wait_a_little(struct trace *t) {
    struct pollfd polled[] = {
        {.fd = probe_descriptor(t->probe), .events = POLLIN},
        {.fd = t->signals, .events = POLLIN},
        {.fd = STDOUT_FILENO}, /* nobody reads any more: POLLERR */
        {.fd = t->target.ended ? -1 : t->target.pidfd, .events = POLLIN},
    };
    poll(polled, sizeof polled / sizeof *polled, POLL_MS);
    if (polled[1].revents & POLLIN)
        take_signal(t);
    if (polled[3].revents & POLLIN) {
        t->target.ended = true;
        stop_at(t, now_ns());
    }
    if (polled[2].revents & POLLERR)
        t->failed = complain(INTERNAL, "standard output cannot be written: %s", strerror(EPIPE));
}

static bool goes_on(struct trace *t) {
    int64_t now = now_ns();
    size_t waiting = creations_expire(t->creations, now, probe_is_lossy(t->probe));
    if (t->failed || t->interrupted || (t->options.count && t->shown >= t->options.count))
        return false;
    return now < t->stop || (waiting > 0 && now - t->stop < SETTLE_NS);
}

static void follow_events(struct trace *t) {
    int64_t began = now_ns();
    if (t->options.duration)
        stop_at(t, began + (int64_t)t->options.duration);
    while (goes_on(t)) {
        wait_a_little(t);
        uint64_t now = (uint64_t)now_ns();
        take_all(t);
        callers_advance(t->callers, now);
        flush(t);
    }
    if (t->failed)
        return;
    take_all(t);
    creations_end(t->creations);
}

/* ---- what is said at the beginning and at the end ---- */

/* From here on nothing is missed. */
static void tell_begin(struct trace *t) {
    if (t->options.json)
        json_print(json_pack("{s:s,s:i,s:I}", "event", "begin", "schema", 1, "time",
                             (json_int_t)clock_ns(CLOCK_REALTIME)));
    else if (!t->options.summary && !t->options.forbid)
        lines_begin();
    flush(t);
}

static void tell_lost(const struct trace *t, const struct spawn_lost *lost) {
    if (t->options.json)
        json_print(json_pack("{s:s,s:I,s:{s:I,s:I,s:I}}", "event", "end", "creations",
                             (json_int_t)t->shown, "lost", "records", (json_int_t)lost->records,
                             "stacks", (json_int_t)lost->stacks, "entries",
                             (json_int_t)lost->entries));
    if (lost->records + lost->entries > 0)
        complain(OK,
                 "%" PRIu64 " records were lost, so counts are too low: more came than could be "
                 "read",
                 (uint64_t)(lost->records + lost->entries));
    if (lost->stacks > 0)
        complain(OK, "%" PRIu64 " stacks were left out: more came than could be read",
                 (uint64_t)lost->stacks);
}

static void tell_summary(struct trace *t) {
    summary_end(&t->summary);
    if (!t->options.json)
        verdict_print(&t->summary, &t->measured, t->hints);
    for (size_t i = 0; t->options.json && i < t->summary.count; i++)
        json_print(verdict_describe(&t->summary.programs[i], &t->measured, t->hints));
}

static int tell_gate(const struct trace *t, const struct spawn_lost *lost) {
    if (t->forbidden > 0)
        return complain(GATE, "%" PRIu64 " fork%s before an exec", t->forbidden,
                        t->forbidden == 1 ? "" : "s");
    if (lost->records + lost->entries > 0)
        return complain(INCONCLUSIVE, "whether one of these was a fork cannot be told");
    if (t->untold > 0)
        return complain(INCONCLUSIVE,
                        "%" PRIu64 " fork%s failed or had not got anywhere: whether an exec was "
                        "to follow cannot be told",
                        t->untold, t->untold == 1 ? "" : "s");
    if (t->running > 0)
        return complain(INCONCLUSIVE,
                        "%" PRIu64
                        " fork%s ran on at the end: whether an exec was to follow cannot "
                        "be told",
                        t->running, t->running == 1 ? "" : "s");
    return OK;
}

/* Of all programs together. */
static struct spawn_lost count_lost(const struct trace *t) {
    struct spawn_lost lost = probe_lost(t->probe);
    if (t->phases) {
        struct phases_lost more = phases_lost(t->phases);
        lost.records += more.records;
        lost.entries += more.entries;
    }
    return lost;
}

static int tell_end(struct trace *t) {
    struct spawn_lost lost = count_lost(t);
    if (t->failed)
        return t->failed;
    if (t->options.summary)
        tell_summary(t);
    tell_lost(t, &lost);
    int code = finish_output(OK);
    if (code == OK && t->options.forbid)
        code = tell_gate(t, &lost);
    if (code != OK)
        return code;
    if (t->interrupted)
        return complain(INTERRUPTED, "interrupted");
    if (t->target.child)
        return t->target.ended ? target_status(&t->target) : OK;
    if (t->target.ended)
        return complain(OK, "process %d has ended", (int)t->target.pid);
    return OK;
}

/* ---- how it begins ---- */

/* Our standard output becomes the file; a command keeps the one that we had. */
static int redirect(struct trace *t) {
    t->own_output = STDOUT_FILENO;
    if (!t->options.output)
        return OK;
    int file = open(t->options.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return complain(USAGE, "%s cannot be written: %s", t->options.output, strerror(errno));
    t->own_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    bool done = t->own_output >= 0 && dup2(file, STDOUT_FILENO) >= 0;
    name_output(t->options.output);
    close(file);
    return done ? OK : complain(INTERNAL, "no descriptor is left: %s", strerror(errno));
}

static int take_signals(struct trace *t) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return t->signals >= 0 ? OK : complain(INTERNAL, "no signalfd: %s", strerror(errno));
}

/* A process, to all programs. */
static bool follow(void *trace, pid_t pid) {
    struct trace *t = trace;
    return probe_follow(t->probe, pid) && (!t->phases || phases_follow(t->phases, pid));
}

static void launch(struct trace *t, bool begin) {
    probe_launch(t->probe, begin);
    if (t->phases)
        phases_launch(t->phases, begin);
}

static int attach(struct trace *t) {
    const struct options *o = &t->options;
    int code = o->pid ? target_find(&t->target, o->pid) : OK;
    if (code == OK && o->phases)
        code = phases_open(&t->phases, !o->pid && !o->command, take_phases, t);
    if (code == OK)
        code = probe_open(&t->probe, !o->pid && !o->command, o->longer_than, take, t);
    if (code != OK)
        return code;
    /* A command may consist of programs that end at once; a host should not be slowed down. */
    t->callers = callers_new(t->probe, o->command);
    if (!t->callers)
        return complain(INTERNAL, "no memory");
    if (o->pid) {
        if (!follow(t, o->pid))
            return complain(INTERNAL, "process %d cannot be followed: %s", (int)o->pid,
                            strerror(errno));
        target_descendants(o->pid, follow, t);
    } else if (o->command) {
        launch(t, true);
        code = target_start(&t->target, o->command, t->own_output);
        launch(t, false);
    }
    return code;
}

static int prepare(struct trace *t) {
    const struct audience audience = {show, settle, t->options.phases ? look_up_phases : NULL, t};
    int code = redirect(t);
    if (code == OK)
        code = kernel_check();
    if (code == OK && (t->options.summary || t->options.forbid))
        code = hints_read(&t->hints);
    if (code == OK)
        code = take_signals(t);
    if (code != OK)
        return code;
    t->creations = creations_new(&audience);
    if (!t->creations)
        return complain(INTERNAL, "no memory");
    if (t->options.summary)
        measure(&t->measured);
    return attach(t);
}

int main(int argc, char **argv) {
    static struct trace t = {.stop = INT64_MAX, .target = {.pidfd = -1}};
    options_read(&t.options, argc, argv);
    int code = check_standard_files();
    if (code == OK)
        code = prepare(&t);
    if (code == OK) {
        tell_begin(&t);
        follow_events(&t);
        code = tell_end(&t);
    }
    creations_free(t.creations);
    callers_free(t.callers);
    probe_close(t.probe);
    phases_close(t.phases);
    summary_free(&t.summary);
    hints_free(t.hints);
    target_free(&t.target);
    return code;
}
