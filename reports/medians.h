#pragma once

#include "layout.h"
#include "notes.h"
#include "units.h"
#include "view.h"

/* A table of medians: a row for each strategy of a view, a column for a figure of one of its cells.
 */

enum shows { MEDIAN, P99, PER_SECOND };

struct column {
    struct label head;
    enum shows shows;
    enum figure figure;
    struct axes axes; /* the row gives the strategy */
};

/* What the page has said so far of each cell, by its index in the run. */
struct marks {
    bool *shown;     /* a table has a number of it */
    bool *explained; /* why it has none */
};

struct marks marks_new(const struct run *run);
void marks_free(struct marks *marks);

struct medians {
    struct table *table;
    struct notes notes; /* why a number is missing */
};

/*
 * The rows of which the run holds a cell, under the head `names`, the floors below a gap. Marks the
 * cells.
 */
struct medians medians_make(const struct view *view, const char *names,
                            const struct column *columns, size_t count, struct marks *marks);
void medians_free(struct medians *medians);
