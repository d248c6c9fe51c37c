#pragma once

#include <stddef.h>
#include <stdio.h>

/* Text in 80 columns. */

enum { PAGE_WIDTH = 80 };

/* Columns on the screen. */
size_t width_of(const char *text, size_t length);

/*
 * Row 0 holds the heads and column 0 the names; the other columns are aligned at their right. A row
 * without a text is a blank line. Columns that do not fit in the page follow below the others.
 */
struct table {
    size_t rows;
    size_t columns;
    char **texts;
};

struct table *table_new(size_t rows, size_t columns);
void table_set(struct table *table, size_t row, size_t column, const char *text);
void table_print(const struct table *table, FILE *out);
void table_free(struct table *table);

/*
 * Prints the words of a text as a paragraph whose first line goes on at column `start` and whose
 * other lines begin at `indent`. A number is not parted from the word that follows it.
 */
void print_words(FILE *out, const char *text, size_t start, size_t indent);

/* Prints a name and a text beside it as such a paragraph; frees the text. */
void print_named(FILE *out, const char *name, char *text);
