#include "render.h"

#include "escape.h"

static void write_row(const struct grid *grid, size_t row, FILE *out) {
    for (size_t column = 0; column < grid->columns; column++) {
        const char *text = grid_text(grid, row, column);
        fputs("| ", out);
        write_markdown(out, text ? text : "");
        fputc(' ', out);
    }
    fputs("|\n", out);
}

void markdown_grid(const struct grid *grid, FILE *out) {
    write_row(grid, 0, out);
    for (size_t column = 0; column < grid->columns; column++)
        fputs(column == 0 || grid->is_prose ? "|:---" : "|---:", out);
    fputs("|\n", out);
    for (size_t row = 1; row < grid->rows; row++)
        write_row(grid, row, out);
}

static void write_grid(const struct grid *grid, FILE *out) {
    if (grid->is_folded) {
        fputs("<details><summary>", out);
        write_xml(out, grid->caption);
        fputs("</summary>\n\n", out);
    } else {
        write_markdown(out, grid->caption);
        fputs("\n\n", out);
    }
    markdown_grid(grid, out);
    if (grid->is_folded)
        fputs("\n</details>\n", out);
}

/* Indented, so that nothing in it can end it. */
static void write_command(const char *command, FILE *out) {
    fputs("    ", out);
    for (const char *c = command; *c; c++)
        fputc((unsigned char)*c < 0x20 ? ' ' : *c, out);
    fputc('\n', out);
}

static void write_element(const struct element *element, FILE *out) {
    fputc('\n', out);
    switch (element->kind) {
    case SECTION:
        fputs("## ", out);
        write_markdown(out, element->text);
        fputc('\n', out);
        break;
    case PARAGRAPH:
        write_markdown(out, element->text);
        fputc('\n', out);
        break;
    case LIST:
        for (size_t i = 0; i < element->count; i++) {
            fputs("- ", out);
            write_markdown(out, element->lines[i]);
            fputc('\n', out);
        }
        break;
    case GRID:
        write_grid(&element->grid, out);
        break;
    case COMMAND:
        write_command(element->text, out);
        break;
    case PICTURE:
        break; /* they need a file of their own */
    }
}

void markdown_write(const struct document *document, FILE *out) {
    fputs("# ", out);
    write_markdown(out, document->title);
    fputs("\n\n", out);
    write_markdown(out, document->lead);
    fputc('\n', out);
    for (size_t i = 0; i < document->count; i++)
        write_element(&document->elements[i], out);
}
