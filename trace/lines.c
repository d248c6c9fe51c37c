#include "lines.h"

#include <linux/sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "doctor/words.h"
#include "reports/units.h"

enum { COLUMNS = 80 };

void lines_begin(void) {
    printf("%-8s %9s  %-11s  %s\n", "TIME", "CALL", "KIND", "PROCESS > CHILD");
}

/* Behind what libc has no names for stands the function that the program called. */
static size_t skip_nameless(const struct trail *trail) {
    size_t i = 0;
    while (i < trail->count && strstr(trail->names[i], "+0x"))
        i++;
    return i < trail->count ? i : 0;
}

void lines_print_trail(const char *lead, const struct trail *trail, const char *why, size_t most) {
    char text[1800];
    size_t used = 0;
    if (!trail) {
        print_words(lead, "stack unknown: %s", why ? why : "nobody knows why");
        return;
    }
    size_t first = skip_nameless(trail), last = first + most;
    if (last > trail->count)
        last = trail->count;
    for (size_t i = first; i < last && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.128s",
                                 i > first ? " < " : "", trail->names[i]);
    print_words(lead, "%s%s", text, trail->count > last ? " < ..." : "");
}

void lines_print_phases(const char *lead, const int64_t ns[INTERVALS], const char *note) {
    char text[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < INTERVALS; i++)
        if (ns[i] != INTERVAL_UNKNOWN)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s",
                                     used == 0                                    ? ""
                                     : i == INTERVAL_WAITED || i == INTERVAL_CALL ? "; "
                                                                                  : ", ",
                                     interval_names[i],
                                     label_time((double)ns[i], unit_for((double)ns[i])).text);
    print_words(lead, "%s%s", used ? text : "not seen", note);
}

static void print_time(int64_t monotonic) {
    char text[16];
    time_t when = (time_t)((clock_ns(CLOCK_REALTIME) - now_ns() + monotonic) / 1000000000);
    struct tm local;
    strftime(text, sizeof text, "%T", localtime_r(&when, &local));
    fputs(text, stdout);
}

/* What libc asks for itself. */
static const uint64_t BOOKKEEPING =
    CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_SETTLS;

/* What the child did, as long as the line allows: of a path, its end. */
static void print_then(const struct creation *c, size_t column) {
    char text[2 * SPAWN_PATH];
    creation_then(c, text, sizeof text);
    size_t room = column < COLUMNS - 16 ? COLUMNS - column : 16, length = strlen(text);
    const char *path = c->path[0] ? strstr(text, c->path) : NULL;
    size_t lead = path ? (size_t)(path - text) : 0;
    if (length <= room || !path)
        puts(text);
    else if (lead + 8 < room)
        printf("%.*s...%s\n", (int)lead, text, text + length - (room - lead - 3));
    else
        printf("%.*s\n", (int)(lead - strlen(": ")), text);
}

void lines_print(const struct creation *c, bool phases) {
    char who[64], flags[256], thread[64] = "";
    struct creation plain = *c;
    print_time(c->asked);
    struct label call = label_time((double)c->call, unit_for((double)c->call));
    int column = snprintf(who, sizeof who, "%s[%d] > ", c->name, (int)c->pid);
    printf(" %9s  %-11s  %s", call.text, creation_kind(c), who);
    print_then(c, (size_t)(8 + 1 + 9 + 2 + 11 + 2 + column));
    plain.flags &= ~BOOKKEEPING;
    creation_flags(&plain, flags, sizeof flags);
    if (strcmp(c->thread, c->name) != 0)
        snprintf(thread, sizeof thread, ", in %s", c->thread);
    print_words("         ", "resident %s, page tables %s, %u mapping%s, %u thread%s%s, %s%s%s%s%s",
                label_about((double)c->rss).text, label_about((double)c->page_tables).text,
                c->mappings, c->mappings == 1 ? "" : "s", c->threads, c->threads == 1 ? "" : "s",
                thread, creation_call(c), flags[0] ? "(" : "", flags, flags[0] ? ")" : "",
                c->caller_ended ? ", in which its caller ended" : "");
    lines_print_trail("         ", c->trail, c->no_trail, 8);
    if (phases) {
        int64_t ns[INTERVALS];
        intervals_of(&c->phases, ns);
        lines_print_phases("         phases: ", ns, "");
    }
}

void lines_print_hint(const char *hint) {
    print_words("         instead: ", "%s", hint);
}
