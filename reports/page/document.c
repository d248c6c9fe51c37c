#include "document.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

static struct element *add(struct document *document, enum element_kind kind, char *text) {
    document->elements =
        must(reallocarray(document->elements, document->count + 1, sizeof *document->elements));
    struct element *element = &document->elements[document->count++];
    *element = (struct element){.kind = kind, .text = text};
    return element;
}

void document_section(struct document *document, const char *name, const char *title) {
    add(document, SECTION, must(strdup(title)))->name = must(strdup(name));
}

void document_say(struct document *document, char *words) {
    add(document, PARAGRAPH, words);
}

void document_list(struct document *document, char **lines, size_t count) {
    struct element *element = add(document, LIST, NULL);
    element->lines = lines;
    element->count = count;
}

void document_command(struct document *document, char *command) {
    add(document, COMMAND, command);
}

void document_picture(struct document *document, const char *name, char *svg, char *caption) {
    struct element *element = add(document, PICTURE, caption);
    element->name = must(strdup(name));
    element->svg = svg;
}

struct grid *document_grid(struct document *document, char *caption, size_t rows, size_t columns) {
    struct grid *grid = &add(document, GRID, NULL)->grid;
    *grid = (struct grid){.caption = caption, .rows = rows, .columns = columns};
    grid->texts = must(calloc(rows * columns, sizeof *grid->texts));
    grid->shades = must(calloc(rows * columns, sizeof *grid->shades));
    return grid;
}

void grid_set(struct grid *grid, size_t row, size_t column, char *text) {
    free(grid->texts[row * grid->columns + column]);
    grid->texts[row * grid->columns + column] = text;
}

void grid_shade(struct grid *grid, size_t row, size_t column, int shade) {
    grid->shades[row * grid->columns + column] = shade;
    grid->has_shades = true;
}

const char *grid_text(const struct grid *grid, size_t row, size_t column) {
    return grid->texts[row * grid->columns + column];
}

static void free_element(struct element *element) {
    struct grid *grid = &element->grid;
    for (size_t i = 0; i < grid->rows * grid->columns; i++)
        free(grid->texts[i]);
    for (size_t i = 0; i < element->count; i++)
        free(element->lines[i]);
    free(grid->texts);
    free(grid->shades);
    free(grid->caption);
    free(element->lines);
    free(element->text);
    free(element->svg);
    free(element->name);
}

void document_free(struct document *document) {
    for (size_t i = 0; i < document->count; i++)
        free_element(&document->elements[i]);
    free(document->elements);
    free(document->title);
    free(document->lead);
    free(document->why_lacking);
}
