#include "render.h"

#include "escape.h"
#include "memory.h"
#include "style.h"

#include <stdlib.h>
#include <string.h>

static void write_tag(FILE *out, const char *tag, const char *class, const char *text) {
    fprintf(out, "<%s%s>", tag, class);
    write_xml(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void write_style(FILE *out) {
    fprintf(out,
            "<style>:root{color-scheme:light dark;%s}\n"
            "@media screen and (prefers-color-scheme:dark){:root{%s}}\n%s\n%s</style>\n",
            light_colours, dark_colours, page_style, picture_style);
}

static void write_head(const struct document *document, FILE *out) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; img-src data:\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<link rel=\"icon\" href=\"data:,\"/>\n",
          out);
    write_tag(out, "title", "", document->title);
    write_style(out);
    fputs("</head>\n<body>\n<main>\n", out);
    write_tag(out, "h1", "", document->title);
    write_tag(out, "p", " class=\"lead\"", document->lead);
}

/* An interval stands below its number. */
static void write_value(FILE *out, const char *text, bool is_number) {
    const char *interval = is_number ? strstr(text, " (") : NULL;
    if (!interval || text[strlen(text) - 1] != ')') {
        write_xml(out, text);
        return;
    }
    char *number = must(strndup(text, (size_t)(interval - text)));
    write_xml(out, number);
    fputc(' ', out);
    free(number);
    write_tag(out, "span", " class=\"ci\"", interval + 1);
}

static void write_cell(const struct grid *grid, size_t row, size_t column, FILE *out) {
    const char *text = grid_text(grid, row, column);
    int shade = grid->shades[row * grid->columns + column];
    const char *tag = row == 0 || column == 0 ? "th" : "td";
    fprintf(out, "<%s", tag);
    if (row == 0 || column == 0)
        fprintf(out, " scope=\"%s\"", row == 0 ? "col" : "row");
    if (shade > 0)
        fprintf(out, " class=\"h%d\"", shade);
    fputc('>', out);
    write_value(out, text ? text : "", tag[1] == 'd' && !grid->is_prose);
    fprintf(out, "</%s>", tag);
}

static void write_row(const struct grid *grid, size_t row, FILE *out) {
    fputs("<tr>", out);
    for (size_t column = 0; column < grid->columns; column++)
        write_cell(grid, row, column, out);
    fputs("</tr>\n", out);
}

/* A box of its own, which scrolls, also by keyboard, where the table is wider than the screen. */
static void write_grid(const struct grid *grid, FILE *out) {
    if (grid->is_folded) {
        fputs("<details><summary>", out);
        write_xml(out, grid->caption);
        fputs("</summary>\n", out);
    }
    fputs("<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    write_xml(out, grid->caption);
    fprintf(out, "\">\n<table%s>\n", grid->is_prose ? " class=\"prose\"" : "");
    fputs("<caption>", out);
    write_tag(out, "span", "", grid->caption);
    fputs("</caption>\n", out);
    fputs("<thead>\n", out);
    write_row(grid, 0, out);
    fputs("</thead>\n<tbody>\n", out);
    for (size_t row = 1; row < grid->rows; row++)
        write_row(grid, row, out);
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (grid->is_folded)
        fputs("</details>\n", out);
}

static void write_picture(const struct document *document, const struct element *picture,
                          FILE *out) {
    if (!picture->svg) {
        fputs("<p>There is no picture here: ", out);
        write_xml(out, document->why_lacking);
        fputs(".</p>\n", out);
        return;
    }
    fputs("<figure>\n", out);
    fputs(picture->svg, out);
    write_tag(out, "figcaption", "", picture->text);
    fputs("</figure>\n", out);
}

static void write_list(const struct element *list, FILE *out) {
    fputs("<ul>\n", out);
    for (size_t i = 0; i < list->count; i++)
        write_tag(out, "li", "", list->lines[i]);
    fputs("</ul>\n", out);
}

static void write_links(const struct document *document, FILE *out) {
    fputs("<nav aria-label=\"On this page\">\n", out);
    for (size_t i = 0; i < document->count; i++) {
        const struct element *element = &document->elements[i];
        if (element->kind != SECTION)
            continue;
        fprintf(out, "<a href=\"#%s\">", element->name);
        write_xml(out, element->text);
        fputs("</a>\n", out);
    }
    fputs("</nav>\n", out);
}

static void write_element(const struct document *document, const struct element *element,
                          const char *class, FILE *out) {
    switch (element->kind) {
    case SECTION:
        fprintf(out, "<h2 id=\"%s\">", element->name);
        write_xml(out, element->text);
        fputs("</h2>\n", out);
        break;
    case PARAGRAPH:
        write_tag(out, "p", class, element->text);
        break;
    case LIST:
        write_list(element, out);
        break;
    case GRID:
        write_grid(&element->grid, out);
        break;
    case PICTURE:
        write_picture(document, element, out);
        break;
    case COMMAND:
        write_tag(out, "pre", "", element->text);
        break;
    }
}

void html_write(const struct document *document, FILE *out) {
    write_head(document, out);
    fputs("<div class=\"first\">\n", out);
    size_t i = 0;
    for (; i < document->count && document->elements[i].kind != SECTION; i++)
        write_element(document, &document->elements[i], " class=\"verdict\"", out);
    write_links(document, out);
    fputs("</div>\n", out);
    for (; i < document->count; i++)
        write_element(document, &document->elements[i], "", out);
    fputs("<footer>Made by forkless " FORKLESS_VERSION
          ". All numbers are medians over rounds; intervals are 95 % bootstrap intervals over "
          "rounds.</footer>\n</main>\n</body>\n</html>\n",
          out);
}
