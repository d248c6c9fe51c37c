#pragma once

#include "notes.h"
#include "run.h"
#include "stats.h"

#include <regex.h>

/*
 * Two runs, cell by cell, in multiples of the floor; the rounds are the sample. What is a change is
 * decided by a rank test after Holm's correction over all cells.
 */

struct question {
    enum figure figure;
    const regex_t *filter;  /* of the cells' names; NULL: all */
    bool gated;             /* the two below hold */
    double fail_above;      /* 0.05: slower by more than 5 % */
    double ignore_below_ns; /* unless it is less than this */
};

enum verdict { SAME, FASTER, SLOWER, INCONCLUSIVE, VERDICTS };

struct change {
    const struct cell *a;
    const struct cell *b;
    size_t a_rounds;    /* that have a multiple */
    size_t b_rounds;    /* the same, where they are paired */
    double ratio;       /* of b to a, Hodges-Lehmann */
    struct interval ci; /* 95%; NaN where the rounds are too few for it */
    double p;           /* that there is no change, after Holm */
    double gate_p;      /* that it is no slower than the gate allows, one-sided, after Holm */
    bool is_told;       /* that there is a change */
    bool is_beyond;     /* slower than the gate allows */
    enum verdict verdict;
};

struct comparison {
    const struct run *a;
    const struct run *b;
    struct question question;
    bool is_paired;
    size_t few;    /* cells whose rounds are too few to tell anything */
    size_t lost;   /* that A measured, and B not in full: they or their floors failed, or B ended */
    size_t absent; /* that B does not even list */
    size_t count;
    struct change *changes; /* those of one block together */
    size_t count_of[VERDICTS];
    size_t beyond;
    struct notes notes; /* why cells are not compared: columns A and B */
};

/* Whether a question, a struct question, is about this cell. */
bool is_asked(const struct cell *cell, const void *question);

void comparison_open(struct comparison *comparison, const struct run *a, const struct run *b,
                     const struct question *question);
void comparison_close(struct comparison *comparison);

/* Whether a change is the first of its block. */
bool begins_block(const struct comparison *comparison, size_t index);
