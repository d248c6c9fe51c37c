#include "layout.h"

#include "memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 15, CELL_WIDTH = 7, GAP = 3 };

/* The bytes of UTF-8 but for those that continue a character. */
size_t width_of(const char *text, size_t length) {
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

struct table *table_new(size_t rows, size_t columns) {
    struct table *table = must(malloc(sizeof *table));
    *table = (struct table){.rows = rows, .columns = columns};
    table->texts = must(calloc(rows * columns, sizeof *table->texts));
    return table;
}

static char **text_at(const struct table *table, size_t row, size_t column) {
    return &table->texts[row * table->columns + column];
}

void table_set(struct table *table, size_t row, size_t column, const char *text) {
    *text_at(table, row, column) = must(strdup(text));
}

static size_t column_width(const struct table *table, size_t column) {
    size_t widest = column == 0 ? NAME_WIDTH : CELL_WIDTH;
    for (size_t row = 0; row < table->rows; row++) {
        const char *text = *text_at(table, row, column);
        size_t width = text ? width_of(text, strlen(text)) : 0;
        if (width > widest)
            widest = width;
    }
    return widest;
}

/* Where a column ends when the page shows the columns from `first` on. */
static size_t column_end(const struct table *table, size_t first, size_t column) {
    size_t end = 1 + column_width(table, 0);
    for (size_t i = first; i <= column; i++)
        end += (i == 1 ? 1 : GAP) + column_width(table, i);
    return end;
}

static void print_row(const struct table *table, FILE *out, size_t row, size_t first, size_t last) {
    const char *name = *text_at(table, row, 0);
    size_t at = name ? 1 + width_of(name, strlen(name)) : 0;
    if (name)
        fprintf(out, " %s", name);
    for (size_t column = first; column < last; column++) {
        const char *text = *text_at(table, row, column);
        if (!text)
            continue;
        size_t end = column_end(table, first, column);
        fprintf(out, "%*s%s", (int)(end - at - width_of(text, strlen(text))), "", text);
        at = end;
    }
    fputc('\n', out);
}

void table_print(const struct table *table, FILE *out) {
    size_t first = 1;
    while (first < table->columns) {
        size_t last = first + 1;
        while (last < table->columns && column_end(table, first, last) <= PAGE_WIDTH)
            last++;
        if (first > 1)
            fputc('\n', out);
        for (size_t row = 0; row < table->rows; row++)
            print_row(table, out, row, first, last);
        first = last;
    }
}

void table_free(struct table *table) {
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->texts[i]);
    free(table->texts);
    free(table);
}

static const char *word_end(const char *word) {
    const char *end = strchrnul(word, ' ');
    bool number = *end && end > word && isdigit((unsigned char)end[-1]);
    return number ? strchrnul(end + 1, ' ') : end;
}

void print_words(FILE *out, const char *text, size_t start, size_t indent) {
    size_t at = start;
    bool begun = false;
    while (*text) {
        const char *end = word_end(text);
        size_t width = width_of(text, (size_t)(end - text));
        if (begun && at + 1 + width > PAGE_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (begun) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, (size_t)(end - text), out);
        at += width;
        begun = true;
        text = end + (*end == ' ');
    }
    fputc('\n', out);
}

void print_named(FILE *out, const char *name, char *text) {
    fputs(name, out);
    print_words(out, text, strlen(name), strlen(name));
    free(text);
}
