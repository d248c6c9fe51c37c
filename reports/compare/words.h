#pragma once

#include "comparison.h"
#include "units.h"

/* What every page of a comparison says. The texts of type char * are malloced. */

extern const char *const verdict_names[VERDICTS];

/* "1.02 ±3%": the multiple of the floor and how far its 95% interval reaches. */
struct label label_multiple(const struct run *run, const struct cell *cell, enum figure figure);
struct label label_median(const struct run *run, const struct cell *cell, enum figure figure);

struct label label_change(const struct change *change);   /* "+17.2%"; "~" when none is told */
struct label label_interval(const struct change *change); /* "+12.1% to +20.3%"; or empty */
struct label label_p(const struct change *change);        /* "p=0.003" */
struct label label_count(const struct comparison *comparison, const struct change *change);
struct label label_limit(const struct comparison *comparison); /* "5 %" */

char *
describe_run(const struct run *run); /* "quick, 8 rounds, 2026-11-29T14:12:03Z, library 4f2a" */
char *describe_block(const struct cell *cell); /* "spawn/ * /rss:1GiB", without the blanks */
char *describe_columns(const struct comparison *comparison);
char *describe_tally(const struct comparison *comparison);
char *describe_few(const struct comparison *comparison);
char *describe_doubt(const struct comparison *comparison);
