#pragma once

#include "medians.h"

/* The tables of medians that every page has, one after the other. */

struct shown {
    const char *title;
    const char *detail; /* a sentence below the title, or NULL */
    const struct medians *medians;
};

typedef void show_table(const struct shown *shown, void *to);

void show_tables(const struct view *view, struct marks *marks, show_table *show, void *to);
