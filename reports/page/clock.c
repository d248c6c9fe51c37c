#include "sections.h"

#include "memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static char *describe_multiple(const struct estimate *multiple) {
    if (!isfinite(multiple->value))
        return NULL;
    return multiple->rounds < 2 ? sentence("%.2f", multiple->value)
                                : sentence("%.2f (%.2f to %.2f)", multiple->value, multiple->ci.low,
                                           multiple->ci.high);
}

static void fill_row(struct grid *grid, size_t place, const struct clock_row *row) {
    grid_set(grid, place, 0, sentence("%s", row->strategy));
    grid_set(grid, place, 1, describe_estimate(&row->total));
    grid_set(grid, place, 2, describe_estimate(&row->storm));
    grid_set(grid, place, 3, describe_multiple(&row->total_multiple));
    grid_set(grid, place, 4, describe_multiple(&row->storm_multiple));
    if (!isfinite(row->ratio))
        return;
    grid_set(grid, place, 5,
             isfinite(row->ci.low) && isfinite(row->ci.high)
                 ? sentence("%.2f (%.2f to %.2f)", row->ratio, row->ci.low, row->ci.high)
                 : sentence("%.2f", row->ratio));
    grid_set(grid, place, 6, sentence("%s", describe_agreement(row)));
}

void add_second_clock(const struct subject *subject, const struct second_clock *clock) {
    static const char *const heads[] = {
        "strategy", "total",      "hyperfine", "total, of the floor", "hyperfine, of the floor",
        "ratio",    "within 10 %"};
    enum { HEADS = sizeof heads / sizeof *heads };
    size_t count;
    struct clock_row *rows = second_clock_compare(clock, subject->run, &count);
    if (count > 0) {
        document_section(subject->document, "clock", "A second clock");
        document_say(subject->document,
                     sentence("hyperfine measures programs that make %jd children, or none; the "
                              "difference by %jd is one spawn. It agrees when the multiples of "
                              "floor_vfork are within 10 %% of each other.",
                              (intmax_t)clock->children, (intmax_t)clock->children));
        struct grid *grid =
            document_grid(subject->document,
                          sentence("One spawn in a small parent, back to back (95 %% intervals)"),
                          count + 1, HEADS);
        for (size_t i = 0; i < HEADS; i++)
            grid_set(grid, 0, i, sentence("%s", heads[i]));
        for (size_t i = 0; i < count; i++)
            fill_row(grid, i + 1, &rows[i]);
    }
    free(rows);
}
