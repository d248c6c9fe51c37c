#pragma once

#include <stddef.h>
#include <stdio.h>

/* The lines below a table that say why it has no number at some places. */

struct note {
    char *row;
    char *columns;
    size_t column_count;
    char *why;
};

struct notes {
    size_t columns; /* of the table: a row without any number needs no list of them */
    size_t count;
    struct note *list;
};

void notes_add(struct notes *notes, const char *row, const char *column, const char *why);
/* Equal reasons in one line: "fork (1 GiB); vfork: no memory". A malloced array of malloced lines.
 */
char **notes_lines(const struct notes *notes, size_t *count);
void notes_print(const struct notes *notes, FILE *out);
void notes_clear(struct notes *notes);
