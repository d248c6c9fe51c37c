#pragma once

#include "run.h"
#include "second_clock.h"

/* What a report is written as, and where to. */

enum format { TEXT, HTML, MARKDOWN, CSV, JSON, GOOGLE_BENCHMARK, FORMATS };

extern const char *const format_names[FORMATS];

bool find_format(const char *name, enum format *format);
bool find_format_of(const char *path, enum format *format); /* by the ending of its name */

/*
 * The report, malloced, with what a second clock says unless that is NULL. *lacking is one malloced
 * sentence when it lacks its pictures, and why; else NULL.
 */
char *render(const struct run *run, const struct second_clock *clock, enum format format,
             size_t *length, char **lacking);
