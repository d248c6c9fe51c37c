#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A page as data: sections of paragraphs, tables, pictures. Renderers turn it into HTML and so on.
 */

enum element_kind { SECTION, PARAGRAPH, LIST, GRID, PICTURE, COMMAND };

enum { SHADES = 6 }; /* of a heat map, 1 the best; 0: none */

/* Row 0 holds the heads and column 0 the names. */
struct grid {
    char *caption;
    size_t rows;
    size_t columns;
    char **texts; /* NULL: nothing there */
    int *shades;
    bool has_shades;
    bool is_prose;  /* words, not numbers */
    bool is_folded; /* long, and shown on demand where that is possible */
};

struct element {
    enum element_kind kind;
    char *text; /* a title, the words, the command line, what is below a picture */
    char *svg;  /* of a picture; NULL: there is none */
    char *name; /* of a section or picture, for links */
    size_t count;
    char **lines; /* of a list */
    struct grid grid;
};

struct document {
    char *title;
    char *lead; /* a sentence below the title */
    size_t count;
    struct element *elements;
    char *why_lacking; /* why there are no pictures; NULL when there are */
};

/* Texts are taken over and freed with the document. */
void document_section(struct document *document, const char *name, const char *title);
void document_say(struct document *document, char *words);
void document_list(struct document *document, char **lines, size_t count);
void document_command(struct document *document, char *command);
void document_picture(struct document *document, const char *name, char *svg, char *caption);

/* The grid is good until the next element is added. */
struct grid *document_grid(struct document *document, char *caption, size_t rows, size_t columns);
void grid_set(struct grid *grid, size_t row, size_t column, char *text);
void grid_shade(struct grid *grid, size_t row, size_t column, int shade);
const char *grid_text(const struct grid *grid, size_t row, size_t column);

void document_free(struct document *document);
