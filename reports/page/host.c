#include "sections.h"

#include "describe.h"
#include "disturbance.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

/* Fields of the run line that count bytes. */
static bool counts_bytes(const char *key) {
    static const char *const known[] = {
        "host.page_size", "host.memory",         "host.swap",         "host.limits.stack",
        "host.limits.as", "host.limits.memlock", "host.cgroup.memory"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(key, known[i]))
            return true;
    return false;
}

static char *describe_value(const struct fact *fact) {
    char *end;
    int64_t bytes = strtoimax(fact->value, &end, 10);
    if (counts_bytes(fact->key) && *fact->value && !*end && bytes >= 0)
        return sentence("%s", label_about((double)bytes).text);
    return must(strdup(fact->value));
}

/* "limits.nofile" as "limits: nofile". */
static char *describe_key(const char *key) {
    char *text = must(strdup(key));
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
    char *dot = strchr(text, '.');
    if (!dot)
        return text;
    *dot = '\0';
    char *whole = sentence("%s: %s", text, dot + 1);
    free(text);
    return whole;
}

static void add_facts(const struct subject *subject, const char *start, const char *caption) {
    const struct facts *facts = &subject->run->facts;
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        count += starts_with(facts->list[i].key, start);
    if (count == 0)
        return;
    struct grid *grid = add_pairs(subject, sentence("%s", caption), "field", "value", count);
    size_t place = 1;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->list[i];
        if (!starts_with(fact->key, start))
            continue;
        grid_set(grid, place, 0, describe_key(fact->key + strlen(start)));
        grid_set(grid, place++, 1, describe_value(fact));
    }
}

/* What was found again when the run went on is not said again. */
static bool is_said(const struct run *run, size_t place) {
    const struct finding *finding = &run->findings[place];
    for (size_t i = 0; i < place; i++)
        if (!strcmp(run->findings[i].name, finding->name) &&
            !strcmp(run->findings[i].found, finding->found))
            return true;
    return false;
}

static void fill_finding(struct grid *grid, size_t place, const struct finding *finding) {
    static const char *const levels[LEVELS] = {"good", "note", "warning", "unknown"};
    grid_set(grid, place, 0, must(strdup(finding->name)));
    grid_set(grid, place, 1, must(strdup(levels[finding->level])));
    grid_set(grid, place, 2, must(strdup(finding->found)));
    if (finding->effect)
        grid_set(grid, place, 3, must(strdup(finding->effect)));
    if (finding->next)
        grid_set(grid, place, 4, must(strdup(finding->next)));
}

static void add_findings(const struct subject *subject) {
    static const char *const heads[] = {"name", "level", "found", "effect", "what to do"};
    const struct run *run = subject->run;
    size_t count = 0, place = 1;
    for (size_t i = 0; i < run->finding_count; i++)
        count += !is_said(run, i);
    if (count == 0)
        return;
    struct grid *grid = document_grid(subject->document,
                                      sentence("What was looked at before the run%s",
                                               run->resumed ? ", and before it went on" : ""),
                                      count + 1, sizeof heads / sizeof *heads);
    grid->is_prose = true;
    for (size_t i = 0; i < grid->columns; i++)
        grid_set(grid, 0, i, sentence("%s", heads[i]));
    for (size_t i = 0; i < run->finding_count; i++)
        if (!is_said(run, i))
            fill_finding(grid, place++, &run->findings[i]);
}

void add_disturbance(const struct subject *subject) {
    const struct run *run = subject->run;
    size_t count = count_disturbed(run), place = 1;
    document_section(subject->document, "noise", "Noise");
    document_say(subject->document, describe_noise(run));
    if (count == 0)
        return;
    struct grid *grid =
        document_grid(subject->document, sentence("Disturbed blocks"), count + 1, 3);
    grid->is_prose = true;
    grid_set(grid, 0, 0, sentence("round"));
    grid_set(grid, 0, 1, sentence("parent's memory"));
    grid_set(grid, 0, 2, sentence("why"));
    for (size_t i = 0; i < run->block_count; i++) {
        const struct block *block = &run->blocks[i];
        if (!block->disturbed)
            continue;
        grid_set(grid, place, 0, sentence("%zu", block->round));
        grid_set(grid, place, 1,
                 sentence("%s%s%s", label_size(block->rss).text, block->ballast ? "/" : "",
                          block->ballast ? block->ballast : ""));
        grid_set(grid, place++, 2, must(strdup(block->disturbed)));
    }
}

void add_host(const struct subject *subject) {
    document_section(subject->document, "host", "Host");
    add_facts(subject, "host.", "Where it was measured");
    add_facts(subject, "build.", "What was measured");
    add_findings(subject);
}
