#pragma once

#include "view.h"
#include "units.h"

#include <stdio.h>

/* A table of medians: a row for each strategy of a view, a column for a figure of one of its cells.
 */

enum shows { MEDIAN, P99, PER_SECOND };

struct column {
    struct label head;
    enum shows shows;
    enum figure figure;
    struct axes axes; /* the row gives the strategy */
};

/*
 * Prints the rows of which the run holds a cell, under the head `names`, the floors below a gap;
 * then why a number is missing. Marks in `explained` the cells, by their index in the run, of which
 * that was said.
 */
void print_medians(FILE *out, const struct view *view, const char *names,
                   const struct column *columns, size_t count, bool *explained);
