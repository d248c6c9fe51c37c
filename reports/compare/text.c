#include "pages.h"

#include "words.h"
#include "fields.h"
#include "layout.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { NAME = 14, MULTIPLE = 10, TIME = 7 };

static void pad(FILE *out, const char *text, size_t width, bool to_left) {
    size_t wide = width_of(text, strlen(text));
    int blanks = wide < width ? (int)(width - wide) : 0;
    fprintf(out, "%*s%s%*s", to_left ? 0 : blanks, "", text, to_left ? blanks : 0, "");
}

static void print_side(const struct run *run, const struct cell *cell, enum figure figure,
                       FILE *out) {
    fputc(' ', out);
    pad(out, label_multiple(run, cell, figure).text, MULTIPLE, false);
    fputc(' ', out);
    pad(out, label_median(run, cell, figure).text, TIME, false);
}

static void print_name(const char *name, FILE *out) {
    pad(out, name, NAME, true);
    if (width_of(name, strlen(name)) > NAME)
        fprintf(out, "\n%*s", NAME + 1, "");
}

static void print_change(const struct comparison *comparison, const struct change *change,
                         bool colours, FILE *out) {
    enum figure figure = comparison->question.figure;
    const char *colour = !colours || !change->is_told ? ""
                         : change->ratio > 1          ? "\033[31m"
                                                      : "\033[32m";
    fputc(change->is_beyond ? '!' : change->verdict == INCONCLUSIVE ? '?' : ' ', out);
    print_name(change->a->axes.strategy, out);
    print_side(comparison->a, change->a, figure, out);
    fputc(' ', out);
    print_side(comparison->b, change->b, figure, out);
    fprintf(out, "  %s%s%s (%s %s)\n", colour, label_change(change).text, *colour ? "\033[0m" : "",
            label_p(change).text, label_count(comparison, change).text);
}

static void print_run(const char *side, const struct run *run, FILE *out) {
    char *path = printable(must(strdup(run->path)));
    print_named(out, side, sentence("%s", path));
    print_named(out, "     ", describe_run(run));
    free(path);
}

static void print_if(const char *mark, char *text, FILE *out) {
    if (text)
        print_named(out, mark, text);
}

void print_comparison(const struct comparison *comparison, bool colours, FILE *out) {
    print_run("A    ", comparison->a, out);
    print_run("B    ", comparison->b, out);
    print_named(out, "     ", describe_columns(comparison));
    fprintf(out, "\n%*s%*s\n", NAME + 1 + MULTIPLE + TIME + 2, "A", MULTIPLE + TIME + 3, "B");
    for (size_t i = 0; i < comparison->count; i++) {
        if (begins_block(comparison, i)) {
            char *block = describe_block(comparison->changes[i].a);
            fprintf(out, "%s%s\n", i > 0 ? "\n" : "", block);
            free(block);
        }
        print_change(comparison, &comparison->changes[i], colours, out);
    }
    if (comparison->notes.count > 0)
        fputs("\nNot compared, or not in full:\n", out);
    notes_print(&comparison->notes, out);
    fputc('\n', out);
    print_named(out, "", describe_tally(comparison));
    if (comparison->beyond > 0)
        print_named(out, "!  ", sentence("slower by more than %s", label_limit(comparison).text));
    print_if("?  ", describe_few(comparison), out);
    print_if("?  ", describe_doubt(comparison), out);
}
