#include "text.h"

#include "advice.h"
#include "captures.h"
#include "others.h"
#include "describe.h"
#include "disturbance.h"
#include "foot.h"
#include "layout.h"
#include "many.h"
#include "memory.h"
#include "simulated.h"
#include "tables.h"
#include "verdict.h"
#include "view.h"

#include <stdlib.h>

static void print_warnings(const struct run *run, FILE *out) {
    size_t count;
    const struct finding **warnings = find_warnings(run, &count);
    for (size_t i = 0; i < count; i++)
        print_named(out, i == 0 ? "Beware " : "       ",
                    sentence("%s: %s", warnings[i]->name, warnings[i]->found));
    free(warnings);
}

static void print_head(const struct run *run, FILE *out) {
    print_named(out, "Host   ", describe_host(&run->host));
    print_named(out, "Noise  ", describe_noise(run));
    print_warnings(run, out);
}

static void print_table(const struct shown *shown, void *to) {
    FILE *out = to;
    fputc('\n', out);
    print_named(out, "", sentence("%s", shown->title));
    if (shown->detail) {
        print_words(out, shown->detail, 0, 0);
        fputc('\n', out);
    }
    table_print(shown->medians->table, out);
    notes_print(&shown->medians->notes, out);
}

static void print_verdict(const struct view *view, FILE *out) {
    char *verdict = describe_verdict(view);
    if (!verdict)
        return;
    fputc('\n', out);
    print_named(out, "", verdict);
}

void text_print(const struct run *run, FILE *out) {
    struct marks marks = marks_new(run);
    size_t count;
    char **targets = find_targets(run, &count);
    struct view view;
    print_head(run, out);
    if (count > 0) {
        view_open(&view, run, targets[0]);
        show_tables(&view, &marks, print_table, out);
        show_advice(&view, print_table, out);
    }
    show_simulated(run, print_table, out);
    show_captures(run, print_table, out);
    show_many(run, print_table, out);
    show_stalls(run, print_table, out);
    show_aftermath(run, print_table, out);
    if (count > 0) {
        print_verdict(&view, out);
        view_close(&view);
    }
    free(targets);
    foot_print(run, marks.explained, out);
    marks_free(&marks);
}
