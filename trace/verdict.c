#include "verdict.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "doctor/words.h"
#include "lines.h"
#include "reports/units.h"

static struct label time_label(int64_t ns) {
    return label_time((double)ns, unit_for((double)ns));
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* Which would hold the caller for as long as `call`, or what it is to be compared with. */
static void print_alternative(const struct measured *m, int64_t median) {
    if (m->count == 0) {
        print_words("  instead  ", "What a vfork-class start costs here is not known: %s.", m->why);
        return;
    }
    print_words("  instead  ",
                "A vfork-class start does not grow with memory: here forkless_start() holds its "
                "caller for %s, forkless_spawn() for %s (medians of %d each, just now)%s.",
                time_label(m->start).text, time_label(m->spawn).text, m->count,
                m->start < median ? "" : ", which is no gain");
}

static void print_trails(const struct tally *t) {
    for (size_t i = 0; i < t->trail_count && i < SUMMARY_TRAILS; i++) {
        char lead[32];
        snprintf(lead, sizeof lead, "%9" PRIu64 "x ", t->trails[i].count);
        lines_print_trail(lead, t->trails[i].trail, NULL, 12);
    }
}

static void print_next(pid_t pid) {
    char target[32] = "-- COMMAND";
    if (kill(pid, 0) == 0)
        snprintf(target, sizeof target, "-p %d", (int)pid);
    print_words("  next     ", "forkless cow %s  # which pages, by whom, and what stays shared",
                target);
}

static void print_phases(const struct tally *t) {
    char note[80];
    int64_t medians[INTERVALS];
    if (t->phase_count == 0)
        return;
    tally_phases(t, medians);
    snprintf(note, sizeof note, " (medians of %zu, each of those that came so far)",
             t->phase_count);
    lines_print_phases("  phases   ", medians, note);
}

static void print_fork(const struct program_summary *p, const struct measured *m,
                       const struct hints *hints) {
    const struct tally *t = &p->tallies[TALLY_FORK];
    int64_t median = tally_median(t);
    const struct trail *trail = t->trail_count ? t->trails[0].trail : NULL;
    if (t->count > t->failed)
        print_words("  pays     ",
                    "%s a fork (median), %s in all: each copies the page tables, up to %s of them "
                    "for %s of resident memory and %u mappings.",
                    time_label(median).text, time_label(t->total).text,
                    label_about((double)t->largest->page_tables).text,
                    label_about((double)t->largest->rss).text, t->largest->mappings);
    if (t->execs > 0) {
        print_words("  why      ",
                    "%" PRIu64 " of %" PRIu64 " went on to exec: that needs no copy.", t->execs,
                    t->count);
        print_alternative(m, median);
        const char *hint = hints_find(hints, p->name, trail);
        if (hint)
            print_words("  hint     ", "%s", hint);
    }
    if (t->runs_on + t->exits > 0) {
        print_words("  why      ",
                    "%" PRIu64 " ran code of their own, without an exec: these need the copy, and "
                    "pay again for each page that is written to later.",
                    t->runs_on + t->exits);
        if (t->runs_on > 0)
            print_next(p->pid);
    }
}

static void print_vfork_class(const struct program_summary *p, const struct measured *m) {
    const struct tally *t = &p->tallies[TALLY_VFORK_CLASS];
    print_words("  pays     ",
                "%s a vfork-class call (median), %s in all: no page tables are copied, whatever "
                "the memory.",
                time_label(tally_median(t)).text, time_label(t->total).text);
    if (m->count > 0)
        print_words("  instead  ",
                    "forkless_start() does not wait for the exec: it holds its caller for %s here "
                    "(median of %d, just now).",
                    time_label(m->start).text, m->count);
}

static void print_counts(const struct tally *t, const char *kind) {
    const struct {
        uint64_t n;
        const char *what;
    } parts[] = {{t->execs, "exec'd or tried to"},
                 {t->exits, "ended without an exec"},
                 {t->runs_on, "run on without one"},
                 {t->failed, "failed"},
                 {t->count - t->execs - t->exits - t->runs_on - t->failed, "unknown"}};
    char text[256] = "";
    int used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n > 0)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRIu64 " %s",
                             used ? ", " : "", parts[i].n, parts[i].what);
    print_words("  ", "%" PRIu64 " %s%s: %s", t->count, kind, plural(t->count), text);
}

void verdict_print(const struct summary *s, const struct measured *m, const struct hints *hints) {
    static const char *const kinds[TALLIES] = {"fork", "vfork-class call"};
    for (size_t i = 0; i < s->count; i++) {
        const struct program_summary *p = &s->programs[i];
        printf("%s%s\n", i ? "\n" : "", p->name);
        for (int kind = 0; kind < TALLIES; kind++) {
            const struct tally *t = &p->tallies[kind];
            if (t->count == 0)
                continue;
            print_counts(t, kinds[kind]);
            histogram_print(&t->histogram);
            print_trails(t);
            print_phases(t);
            if (kind == TALLY_FORK)
                print_fork(p, m, hints);
            else
                print_vfork_class(p, m);
        }
    }
    if (s->count == 0)
        print_words("", "No process was created.");
}

static json_t *describe_phases(const struct tally *t) {
    int64_t medians[INTERVALS];
    json_t *phases = json_pack("{s:I}", "count", (json_int_t)t->phase_count);
    tally_phases(t, medians);
    for (size_t i = 0; i < INTERVALS; i++)
        json_object_set_new(phases, interval_names[i],
                            medians[i] == INTERVAL_UNKNOWN ? json_null()
                                                           : json_integer(medians[i]));
    return phases;
}

static json_t *describe_tally(const struct tally *t) {
    json_t *stacks = json_array();
    for (size_t i = 0; i < t->trail_count && i < SUMMARY_TRAILS; i++) {
        json_t *names = json_array();
        for (size_t k = 0; k < t->trails[i].trail->count; k++)
            json_array_append_new(names, json_string(t->trails[i].trail->names[k]));
        json_array_append_new(stacks, json_pack("{s:I,s:o}", "count",
                                                (json_int_t)t->trails[i].count, "stack", names));
    }
    json_t *tally = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "count", (json_int_t)t->count, "failed",
        (json_int_t)t->failed, "execs", (json_int_t)t->execs, "exits", (json_int_t)t->exits,
        "runs_on", (json_int_t)t->runs_on, "call_median", (json_int_t)tally_median(t), "call_total",
        (json_int_t)t->total, "rss_largest", (json_int_t)(t->largest ? t->largest->rss : 0),
        "page_tables", (json_int_t)(t->largest ? t->largest->page_tables : 0), "call_histogram",
        histogram_describe(&t->histogram), "stacks", stacks);
    if (t->phase_count > 0)
        json_object_set_new(tally, "phases", describe_phases(t));
    return tally;
}

json_t *verdict_describe(const struct program_summary *p, const struct measured *m,
                         const struct hints *hints) {
    const struct tally *fork = &p->tallies[TALLY_FORK];
    const char *hint =
        fork->execs > 0
            ? hints_find(hints, p->name, fork->trail_count ? fork->trails[0].trail : NULL)
            : NULL;
    json_t *line = json_pack("{s:s,s:s%,s:o,s:o}", "event", "program", "program", p->name,
                             strlen(p->name), "fork", describe_tally(fork), "vfork_class",
                             describe_tally(&p->tallies[TALLY_VFORK_CLASS]));
    if (m->count > 0)
        json_object_set_new(line, "here",
                            json_pack("{s:I,s:I,s:i}", "forkless_start", (json_int_t)m->start,
                                      "forkless_spawn", (json_int_t)m->spawn, "count", m->count));
    if (hint)
        json_object_set_new(line, "hint", json_string(hint));
    return line;
}
