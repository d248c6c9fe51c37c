#include "sections.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *describe_estimate(const struct estimate *estimate) {
    if (isnan(estimate->value))
        return sentence("-");
    if (estimate->rounds < 2)
        return sentence("%s", label_time(estimate->value, unit_for(estimate->value)).text);
    enum unit unit = unit_for(fmax(estimate->value, estimate->ci.high));
    return sentence("%s (%s to %s)", label_time(estimate->value, unit).text,
                    label_number(estimate->ci.low, unit).text,
                    label_number(estimate->ci.high, unit).text);
}

size_t style_of(const struct view *view, const char *strategy) {
    static const char *const known[] = {"forkless_start", "forkless_spawn", "vfork",
                                        "clone3",         "posix_spawn",    "fork",
                                        "floor_vm",       "floor_vfork"};
    enum { KNOWN = sizeof known / sizeof *known };
    size_t other = 0;
    for (size_t i = 0; i < KNOWN; i++)
        if (!strcmp(strategy, known[i]))
            return i;
    while (other < view->row_count && strcmp(view->rows[other].strategy, strategy))
        other++;
    return KNOWN + other % (STYLES - KNOWN);
}

static bool has_points(const struct picture *picture) {
    for (size_t i = 0; i < picture->count; i++)
        if (picture->series[i].count > 0)
            return true;
    return false;
}

void add_picture(const struct subject *subject, struct picture *picture, char *caption) {
    struct document *document = subject->document;
    if (!has_points(picture)) {
        free(caption);
    } else {
        char *why = NULL;
        char *svg = document->why_lacking ? NULL : picture_draw(picture, &why);
        document_picture(document, picture->id, svg, caption);
        if (why)
            document->why_lacking = why;
    }
    picture_clear(picture);
}

struct grid *add_pairs(const struct subject *subject, char *caption, const char *key,
                       const char *value, size_t count) {
    struct grid *grid = document_grid(subject->document, caption, count + 1, 2);
    grid_set(grid, 0, 0, sentence("%s", key));
    grid_set(grid, 0, 1, sentence("%s", value));
    grid->is_prose = true;
    return grid;
}
