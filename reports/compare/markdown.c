#include "pages.h"

#include "words.h"
#include "escape.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static void put_line(FILE *out, const char *before, char *text) {
    fputs(before, out);
    write_markdown(out, text);
    fputs("\n", out);
    free(text);
}

static void put_cell(FILE *out, const char *text) {
    fputs(" ", out);
    write_markdown(out, text);
    fputs(" |", out);
}

static void put_row(const struct comparison *comparison, const struct change *change, FILE *out) {
    enum figure figure = comparison->question.figure;
    const char *verdict = change->is_beyond ? "beyond" : verdict_names[change->verdict];
    fputc('|', out);
    put_cell(out, change->a->name);
    put_cell(out, label_multiple(comparison->a, change->a, figure).text);
    put_cell(out, label_median(comparison->a, change->a, figure).text);
    put_cell(out, label_multiple(comparison->b, change->b, figure).text);
    put_cell(out, label_median(comparison->b, change->b, figure).text);
    put_cell(out, label_change(change).text);
    put_cell(out, label_interval(change).text);
    put_cell(out, label_p(change).text);
    put_cell(out, label_count(comparison, change).text);
    put_cell(out, verdict);
    fputc('\n', out);
}

static void put_run(const char *side, const struct run *run, FILE *out) {
    char *about = describe_run(run);
    put_line(out, side, sentence("%s: %s", run->path, about));
    free(about);
}

void print_comparison_markdown(const struct comparison *comparison, FILE *out) {
    put_line(out, "# ", sentence("Two runs compared"));
    put_line(out, "\n", describe_tally(comparison));
    fputs("\n", out);
    put_run("- A: ", comparison->a, out);
    put_run("- B: ", comparison->b, out);
    put_line(out, "\n", describe_columns(comparison));
    fputs("\n| Cell | A | | B | | Change | 95 % interval | p | n | Verdict |\n"
          "|:--|--:|--:|--:|--:|--:|:--|:--|:--|:--|\n",
          out);
    for (size_t i = 0; i < comparison->count; i++)
        put_row(comparison, &comparison->changes[i], out);
    fputs("\n", out);
    char *few = describe_few(comparison), *doubt = describe_doubt(comparison);
    if (few)
        put_line(out, "- ", few);
    if (doubt)
        put_line(out, "- ", doubt);
    for (size_t i = 0; i < comparison->notes.count; i++) {
        const struct note *note = &comparison->notes.list[i];
        put_line(out, "- ", sentence("%s (%s): %s", note->row, note->columns, note->why));
    }
}
