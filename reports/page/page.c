#include "page.h"

#include "advice.h"
#include "captures.h"
#include "many.h"
#include "simulated.h"
#include "describe.h"
#include "disturbance.h"
#include "memory.h"
#include "others.h"
#include "sections.h"
#include "verdict.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void add_verdict(const struct subject *subject) {
    char *verdict = describe_verdict(subject->view);
    document_say(subject->document,
                 verdict ? verdict : sentence("No strategy was measured: there is no verdict."));
}

static void add_warnings(const struct subject *subject) {
    size_t count;
    const struct finding **warnings = find_warnings(subject->run, &count);
    char **lines = must(calloc(count + 2, sizeof *lines));
    char *noise = describe_noise(subject->run);
    lines[0] = sentence("Noise: %s.", noise);
    for (size_t i = 0; i < count; i++)
        lines[i + 1] = sentence("Beware: %s: %s.", warnings[i]->name, warnings[i]->found);
    document_list(subject->document, lines, count + 1);
    free(noise);
    free(warnings);
}

static void add_table(const struct shown *shown, void *to) {
    struct document *document = to;
    const struct table *table = shown->medians->table;
    size_t rows = 0;
    for (size_t row = 0; row < table->rows; row++)
        rows += row == 0 || table->texts[row * table->columns];
    char *caption = shown->detail ? sentence("%s; %s", shown->title, shown->detail)
                                  : sentence("%s", shown->title);
    struct grid *grid = document_grid(document, caption, rows, table->columns);
    for (size_t row = 0, place = 0; row < table->rows; row++) {
        if (row > 0 && !table->texts[row * table->columns])
            continue;
        for (size_t column = 0; column < table->columns; column++) {
            const char *text = table->texts[row * table->columns + column];
            if (text)
                grid_set(grid, place, column, must(strdup(text)));
        }
        place++;
    }
    if (!*grid_text(grid, 0, 0))
        grid_set(grid, 0, 0, sentence("strategy"));
    size_t count;
    char **notes = notes_lines(&shown->medians->notes, &count);
    if (count > 0)
        document_list(document, notes, count);
    else
        free(notes);
}

static void add_advice(const struct subject *subject) {
    if (!has_advice(subject->view))
        return;
    document_section(subject->document, "advice", "What else helps, and where nothing has to");
    show_advice(subject->view, add_table, subject->document);
}

void add_tables(const struct subject *subject) {
    struct marks marks = marks_new(subject->run);
    document_section(subject->document, "tables", "Tables");
    show_tables(subject->view, &marks, add_table, subject->document);
    marks_free(&marks);
}

static void add_simulated(const struct subject *subject) {
    if (!has_simulated(subject->run))
        return;
    document_section(subject->document, "simulated", "Simulated memory");
    show_simulated(subject->run, add_table, subject->document);
}

static void add_captures(const struct subject *subject) {
    if (!has_captures(subject->run))
        return;
    document_section(subject->document, "captures", "Captures");
    show_captures(subject->run, add_table, subject->document);
}

static void add_many(const struct subject *subject) {
    if (!has_many(subject->run))
        return;
    document_section(subject->document, "many", "Many commands");
    show_many(subject->run, add_table, subject->document);
}

static void add_others(const struct subject *subject) {
    if (has_stalls(subject->run)) {
        document_section(subject->document, "stalls", "Others that stood still");
        show_stalls(subject->run, add_table, subject->document);
    }
    if (has_aftermath(subject->run)) {
        document_section(subject->document, "after", "What comes after");
        show_aftermath(subject->run, add_table, subject->document);
    }
}

/* What is true of this run alone of docs/bias.md. */
void add_bias(const struct subject *subject) {
    const struct run *run = subject->run;
    bool is_virtual = run->host.is_virtual, is_tiny = false, has_start = false;
    for (size_t i = 0; i < run->cell_count; i++) {
        is_tiny |= !strcmp(run->cells[i].axes.target, DEFAULT_TARGET);
        has_start |= !strcmp(run->cells[i].axes.strategy, "forkless_start");
    }
    const struct {
        bool holds;
        const char *says;
    } points[] = {
        {is_virtual,
         "A virtual machine that takes long for a system call flatters whoever makes fewer of "
         "them, and makes fork's copying of page tables dearer."},
        {is_virtual, "Waking a halted virtual CPU can take tens of us, which is then most of a "
                     "paced call of forkless_start."},
        {is_tiny, "The target tiny is the smallest program there is: the larger the program, the "
                  "smaller the share of any spawn call in total."},
        {has_start, "forkless_start does not wait for its child to get a CPU. call shows that, "
                    "ready and total do not, and cpu shows that no work is hidden."},
        {!has_aftermath(run),
         "The parent's memory is idle: what copy-on-write costs after a fork does not show."},
        {true, "fork, vfork, posix_spawn and clone3 close no descriptors and leave signals alone; "
               "the library and the floors make three system calls more in the child."}};
    enum { POINTS = sizeof points / sizeof *points };
    char **lines = must(calloc(POINTS, sizeof *lines));
    size_t count = 0;
    for (size_t i = 0; i < POINTS; i++)
        if (points[i].holds)
            lines[count++] = must(strdup(points[i].says));
    document_section(subject->document, "bias", "What favours whom");
    document_list(subject->document, lines, count);
    document_say(subject->document, sentence("The whole list is docs/bias.md in forkless."));
}

/* A word as the shell reads it back. */
static char *quote(const char *word) {
    bool plain = *word != '\0' && *word != '-';
    for (const char *c = word; *c; c++)
        plain &= isalnum((unsigned char)*c) || strchr("._/-:", *c) != NULL;
    if (plain)
        return must(strdup(word));
    char *quoted = NULL;
    size_t length;
    FILE *out = must(open_memstream(&quoted, &length));
    fputc('\'', out);
    for (const char *c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, out);
    fputc('\'', out);
    fclose(out);
    return must(quoted);
}

void add_command(const struct subject *subject) {
    const struct run *run = subject->run;
    char *matrix = quote(run->matrix);
    document_section(subject->document, "again", "Measure it again");
    document_command(subject->document,
                     run->seed >= 0
                         ? sentence("forkless bench %s --seed %jd --rounds %zu", matrix,
                                    (intmax_t)run->seed, run->rounds)
                         : sentence("forkless bench %s --rounds %zu", matrix, run->rounds));
    document_say(subject->document,
                 sentence("A matrix file of one's own, and options that chose or changed cells, "
                          "such as --filter or --rss, have to be given again."));
    free(matrix);
}

static char *describe_lead(const struct run *run) {
    const char *started = run->started;
    char *host = describe_host(&run->host), *counts = describe_counts(run);
    char *when = started ? sentence(", begun %s", started) : sentence("%s", "");
    char *lead = sentence("%s. Matrix %s, %zu round%s%s; %s.", host, run->matrix, run->rounds,
                          run->rounds == 1 ? "" : "s", when, counts);
    free(when);
    free(counts);
    free(host);
    return lead;
}

static void add_spawns(struct subject *subject, char *target) {
    struct view view;
    view_open(&view, subject->run, target);
    subject->view = &view;
    add_verdict(subject);
    add_cost_picture(subject);
    add_warnings(subject);
    add_ranking(subject);
    add_growth(subject);
    add_heat_map(subject);
    add_advice(subject);
    add_samples(subject);
    add_tables(subject);
    view_close(&view);
    subject->view = NULL;
}

struct document page_make(const struct run *run, const struct second_clock *clock,
                          bool with_pictures) {
    struct document document = {.title = sentence("What starting a process costs"),
                                .lead = describe_lead(run)};
    struct subject subject = {.run = run, .document = &document, .has_pictures = with_pictures};
    size_t count;
    char **targets = find_targets(run, &count);
    if (count > 0)
        add_spawns(&subject, targets[0]);
    free(targets);
    add_simulated(&subject);
    add_captures(&subject);
    add_many(&subject);
    add_others(&subject);
    if (clock)
        add_second_clock(&subject, clock);
    add_problems(&subject);
    add_disturbance(&subject);
    add_host(&subject);
    add_bias(&subject);
    add_cells(&subject);
    add_command(&subject);
    return document;
}

char *page_picture(const struct run *run, char **why) {
    struct document document = {0};
    struct subject subject = {.run = run, .document = &document, .has_pictures = true};
    size_t count;
    char **targets = find_targets(run, &count);
    if (count > 0) {
        struct view view;
        view_open(&view, run, targets[0]);
        subject.view = &view;
        add_cost_picture(&subject);
        view_close(&view);
    }
    free(targets);
    char *svg = NULL;
    if (document.count > 0) {
        svg = document.elements[0].svg;
        document.elements[0].svg = NULL;
    }
    *why =
        svg ? NULL
            : sentence("%s", document.why_lacking ? document.why_lacking : "nothing was measured");
    document_free(&document);
    return svg;
}
