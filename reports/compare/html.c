#include "pages.h"

#include "words.h"
#include "escape.h"
#include "memory.h"

#include <stdlib.h>

static const char HEAD[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n"
    "<title>forkless: two runs compared</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 1rem auto;"
    " padding: 0 1rem; overflow-wrap: anywhere; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; overflow-wrap: normal; font-size: 0.9rem; }\n"
    "th, td { padding: 0.2rem 0.4rem; text-align: right; white-space: nowrap;"
    " border-bottom: 1px solid #8886; }\n"
    "tbody th { font-weight: normal; white-space: normal; overflow-wrap: anywhere;"
    " min-width: 8rem; }\n"
    "th:first-child, th:nth-child(3), td:nth-child(3) { text-align: left; }\n"
    "td { font-variant-numeric: tabular-nums; }\n"
    ".told td:nth-child(2) { font-weight: bold; }\n"
    ".beyond { background: #d554; }\n"
    "@page { size: A4 landscape; margin: 12mm; }\n"
    "@media print { body { font-size: 9pt; max-width: none; } .wide { overflow: visible; } }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<h1>Two runs compared</h1>\n";

static const char TABLE[] =
    "<div class=\"wide\" role=\"region\" aria-label=\"The cells\" tabindex=\"0\">\n"
    "<table>\n"
    "<thead><tr><th scope=\"col\">Cell</th><th scope=\"col\">Change</th><th "
    "scope=\"col\">Verdict</th>"
    "<th scope=\"col\">95 % interval</th><th scope=\"col\">p</th><th scope=\"col\">Rounds</th>"
    "<th scope=\"col\">A</th><th scope=\"col\">A, time</th><th scope=\"col\">B</th>"
    "<th scope=\"col\">B, time</th></tr></thead>\n";

static void put_element(FILE *out, const char *name, const char *text) {
    fprintf(out, "<%s>", name);
    write_xml(out, text);
    fprintf(out, "</%s>", name);
}

/* Frees the text, which may be NULL. */
static void put_paragraph(FILE *out, char *text) {
    if (!text)
        return;
    put_element(out, "p", text);
    fputc('\n', out);
    free(text);
}

static void put_row(const struct comparison *comparison, const struct change *change, FILE *out) {
    enum figure figure = comparison->question.figure;
    const char *verdict = change->is_beyond ? "beyond" : verdict_names[change->verdict];
    fprintf(out, "<tr class=\"%s%s\"><th scope=\"row\">", change->is_beyond ? "beyond" : "",
            change->is_told ? " told" : "");
    write_xml(out, change->a->name);
    fputs("</th>", out);
    put_element(out, "td", label_change(change).text);
    put_element(out, "td", verdict);
    put_element(out, "td", label_interval(change).text);
    put_element(out, "td", label_p(change).text);
    put_element(out, "td", label_count(comparison, change).text);
    put_element(out, "td", label_multiple(comparison->a, change->a, figure).text);
    put_element(out, "td", label_median(comparison->a, change->a, figure).text);
    put_element(out, "td", label_multiple(comparison->b, change->b, figure).text);
    put_element(out, "td", label_median(comparison->b, change->b, figure).text);
    fputs("</tr>\n", out);
}

static void put_run(FILE *out, const char *side, const struct run *run) {
    char *about = describe_run(run);
    put_paragraph(out, sentence("%s: %s (%s)", side, run->path, about));
    free(about);
}

static void put_notes(FILE *out, const struct notes *notes) {
    if (notes->count == 0)
        return;
    fputs("<h2>Not compared, or not in full</h2>\n<ul>\n", out);
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->list[i];
        char *text = sentence("%s (%s): %s", note->row, note->columns, note->why);
        put_element(out, "li", text);
        fputc('\n', out);
        free(text);
    }
    fputs("</ul>\n", out);
}

void print_comparison_html(const struct comparison *comparison, FILE *out) {
    fputs(HEAD, out);
    put_paragraph(out, describe_tally(comparison));
    put_run(out, "A", comparison->a);
    put_run(out, "B", comparison->b);
    put_paragraph(out, describe_columns(comparison));
    fputs(TABLE, out);
    for (size_t i = 0; i < comparison->count; i++) {
        if (begins_block(comparison, i))
            fputs(i > 0 ? "</tbody>\n<tbody>\n" : "<tbody>\n", out);
        put_row(comparison, &comparison->changes[i], out);
    }
    fputs(comparison->count > 0 ? "</tbody>\n</table>\n</div>\n" : "</table>\n</div>\n", out);
    put_paragraph(out, describe_few(comparison));
    put_paragraph(out, describe_doubt(comparison));
    put_notes(out, &comparison->notes);
    fputs("</body>\n</html>\n", out);
}
