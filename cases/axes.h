/*
 * The axes: all that files, command line, results, blocks and plans know of one is its row in one
 * table, in the order in which they stand in a cell's name. A row reads and writes one field of
 * struct cell; its default is what that has in cell_default, 0 and the first word if it has nothing
 * there. A new one has a default that means "as before".
 */
#ifndef AXES_H
#define AXES_H

#include "cell.h"

enum { AXES_MAX = 32, AXIS_TEXT_SIZE = 96 };

struct axis;

/* What a value is. */
struct axis_kind {
    bool is_number; /* in results: bytes, ns or a count */
    /* From text, which is kept. False with a sentence in `why`. */
    bool (*parse)(const struct axis *, struct cell *, const char *text, char *why, size_t size);
    /* As in a name, AXIS_TEXT_SIZE bytes at most. */
    void (*print)(const struct axis *, const struct cell *, char *out, size_t size);
};

struct axis {
    const char *name;  /* "at_once"; its option is --at-once */
    int letter;        /* of the option; 0: none */
    const char *means; /* for --help */
    const struct axis_kind *kind;
    size_t offset;        /* of the field */
    bool of_ballast;      /* made once for a block: cells that differ in it are of several blocks */
    bool always;          /* in results at its default too */
    unsigned least, most; /* of a count */
    const char *const *words; /* all that it can be, up to NULL; the field is the number of one */
    const char *(*each)(size_t); /* the values that `each` stands for, NULL after the last */
    /* Whether its value does not go with those of other axes, with a sentence in `why`. */
    bool (*conflicts)(const struct cell *, char *why, size_t size);
};

extern const struct axis axes[];
extern const size_t axis_count;

/* NULL when there is none of this name. */
const struct axis *axis_find(const char *name);

/* As on the command line: "--at-once". */
void axis_option(const struct axis *, char *out, size_t size);

/* Sets it from text, which is kept. False with a sentence in `why`. */
bool axis_set(const struct axis *, struct cell *, const char *text, char *why, size_t size);

/* The value as in a name. */
void axis_print(const struct axis *, const struct cell *, char out[AXIS_TEXT_SIZE]);
bool axis_is_default(const struct axis *, const struct cell *);

/* Of an axis of numbers, as in results: bytes, ns or a count. */
uint64_t axis_number(const struct axis *, const struct cell *);
bool axis_set_number(const struct axis *, struct cell *, int64_t number);

/* The axis whose value does not go with the others, with a sentence in `why`; NULL: none. */
const struct axis *axes_conflict(const struct cell *, char *why, size_t size);

/* Whether one block measures both. */
bool same_ballast(const struct cell *, const struct cell *);

/* "1GiB", and "/key:value" for each other axis of the ballast that is not at its default. */
void ballast_name(const struct cell *, char *out, size_t size);

#endif
