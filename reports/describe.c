#include "describe.h"

#include "analysis.h"
#include "disturbance.h"
#include "memory.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *describe_host(const struct host *host) {
    return sentence("%jd x %s%s, Linux %s, %s, %s pages", (intmax_t)host->cpus, host->cpu,
                    host->is_virtual ? " (virtual)" : "", host->kernel, host->libc,
                    label_size(host->page_size).text);
}

char *describe_noise(const struct run *run) {
    struct noise heard = noise(run);
    if (!heard.known)
        return sentence("unknown: no block was finished");
    char *others = isnan(heard.other) ? sentence("%s", "")
                                      : sentence(", other programs %.1f %%", heard.other * 100);
    char *disturbance = describe_disturbance(run);
    bool is_few = run->rounds > 1 && run->rounds < ROUNDS_TO_RELY_ON;
    char *few = is_few ? sentence("; %zu rounds: intervals are narrower than 95 %%", run->rounds)
                       : sentence("%s", "");
    char *text = sentence("%s: steal %.1f %%, load %.1f%s%s%s%s", heard.high ? "high" : "low",
                          heard.steal * 100, heard.load, others, disturbance ? "; " : "",
                          disturbance ? disturbance : "", few);
    free(few);
    free(disturbance);
    free(others);
    return text;
}

char *describe_gap(int64_t gap, const char *between) {
    return gap ? sentence("%s of work between %s", label_gap(gap).text, between)
               : sentence("back to back");
}

const char *describe_target(const char *target) {
    static const char *const known[][2] = {{"tiny", "a tiny static program"},
                                           {"silent", "a tiny static program that does not stamp"},
                                           {"static", "a static program"},
                                           {"dynamic", "a dynamic program"},
                                           {"mebibyte", "a tiny static program that writes 1 MiB"},
                                           {"waiter", "a tiny static program that waits"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(target, known[i][0]))
            return known[i][1];
    return target;
}

char *describe_more(const struct axes *axes) {
    char *words = sentence("%s", ""), *copy = must(strdup(axes->more)), *rest = copy;
    for (char *part; *copy && (part = strsep(&rest, "/"));) {
        *strchr(part, ':') = ' ';
        char *longer = sentence("%s%s%s", words, *words ? ", " : "", part);
        free(words);
        words = longer;
    }
    free(copy);
    return words;
}

char *describe_rounds(const struct view *view) {
    size_t least = view->run->rounds, most = 0;
    for (size_t i = 0; i < view->row_count; i++)
        for (size_t size = 0; size < view->size_count; size++) {
            const struct cell *cell = view_cell(view, view->rows[i].strategy, view->sizes[size]);
            size_t rounds = cell ? count_rounds(view->run, cell) : 0;
            if (rounds == 0)
                continue;
            least = rounds < least ? rounds : least;
            most = rounds > most ? rounds : most;
        }
    if (most == 0)
        return sentence("never measured");
    if (least < most)
        return sentence("medians of %zu to %zu rounds", least, most);
    return sentence("median of %zu round%s", most, most == 1 ? "" : "s");
}

char *describe_counts(const struct run *run) {
    char *counts = NULL;
    size_t length, asked = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        asked += rounds_asked(run, &run->cells[i]);
    FILE *text = must(open_memstream(&counts, &length));
    fprintf(text, "%zu of %zu measured, %zu failed", count_state(run, MEASURED), asked,
            count_state(run, FAILED));
    if (count_state(run, UNSUPPORTED))
        fprintf(text, ", %zu unsupported", count_state(run, UNSUPPORTED));
    if (count_state(run, TIMEOUT))
        fprintf(text, ", %zu timed out", count_state(run, TIMEOUT));
    if (run->resumed == 1)
        fputs("; resumed once", text);
    if (run->resumed > 1)
        fprintf(text, "; resumed %zu times", run->resumed);
    if (run->interrupted)
        fputs("; interrupted", text);
    if (!run->ended)
        fputs("; no end: killed, or still running", text);
    fclose(text);
    return must(counts);
}
