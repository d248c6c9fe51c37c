#include "unlike.h"

#include "describe.h"
#include "memory.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A phrase that grows. */
struct list {
    FILE *out;
    char *text;
    size_t length;
    size_t count;
};

static void list_open(struct list *list) {
    *list = (struct list){.count = 0};
    list->out = must(open_memstream(&list->text, &list->length));
}

static FILE *list_next(struct list *list) {
    fputs(list->count++ ? ", " : "", list->out);
    return list->out;
}

static char *list_close(struct list *list) {
    fclose(list->out);
    must(list->text);
    if (list->count > 0)
        return list->text;
    free(list->text);
    return NULL;
}

static void add_texts(struct list *list, const char *what, const char *a, const char *b) {
    const char *left = a ? a : "none", *right = b ? b : "none";
    if (strcmp(left, right))
        fprintf(list_next(list), "%s (%s, %s)", what, left, right);
}

static void add_numbers(struct list *list, const char *what, int64_t a, int64_t b) {
    if (a != b)
        fprintf(list_next(list), "%s (%jd, %jd)", what, (intmax_t)a, (intmax_t)b);
}

char *unlike_hosts(const struct run *a, const struct run *b) {
    struct list list;
    list_open(&list);
    add_texts(&list, "cpu", a->host.cpu, b->host.cpu);
    add_numbers(&list, "cpus", a->host.cpus, b->host.cpus);
    add_texts(&list, "virtual", a->host.is_virtual ? "yes" : "no",
              b->host.is_virtual ? "yes" : "no");
    if (a->schema >= 2 && b->schema >= 2) /* schema 1 does not tell */
        add_texts(&list, "hypervisor", a->host.hypervisor, b->host.hypervisor);
    add_texts(&list, "kernel", a->host.kernel, b->host.kernel);
    add_texts(&list, "libc", a->host.libc, b->host.libc);
    add_numbers(&list, "page_size", a->host.page_size, b->host.page_size);
    return list_close(&list);
}

bool same_axes(const struct axes *a, const struct axes *b) {
    return !strcmp(a->strategy, b->strategy) && a->rss == b->rss && a->gap == b->gap &&
           a->at_once == b->at_once && a->fds == b->fds && a->spawners == b->spawners &&
           !strcmp(a->attributes, b->attributes) && !strcmp(a->target, b->target) &&
           !strcmp(a->more, b->more);
}

/* One axis with its value, as people read it. */
static char *value_of(const struct axes *axes, size_t axis) {
    switch (axis) {
    case 0:
        return sentence("rss %s", label_size(axes->rss).text);
    case 1:
        return sentence("gap %s", axes->gap ? label_gap(axes->gap).text : "0");
    case 2:
        return sentence("at_once %jd", (intmax_t)axes->at_once);
    case 3:
        return sentence("fds %jd", (intmax_t)axes->fds);
    case 4:
        return sentence("spawners %jd", (intmax_t)axes->spawners);
    case 5:
        return sentence("attributes %s", axes->attributes);
    case 6:
        return sentence("target %s", axes->target);
    default:
        return axes->more[0] ? describe_more(axes) : sentence("no other axis");
    }
}

enum { AXES = 8 };

struct pick {
    bool (*counts)(const struct cell *, const void *);
    const void *context;
};

static bool has_value(const struct run *run, size_t cells, const struct pick *pick, size_t axis,
                      const char *value) {
    bool found = false;
    for (size_t i = 0; i < cells && !found; i++) {
        if (!pick->counts(&run->cells[i], pick->context))
            continue;
        char *other = value_of(&run->cells[i].axes, axis);
        found = !strcmp(value, other);
        free(other);
    }
    return found;
}

/* The values that only the first run has, each once. */
static void add_own(struct list *list, const struct run *run, const struct run *other,
                    const struct pick *pick, const char *which) {
    for (size_t axis = 0; axis < AXES; axis++)
        for (size_t i = 0; i < run->cell_count; i++) {
            if (!pick->counts(&run->cells[i], pick->context))
                continue;
            char *value = value_of(&run->cells[i].axes, axis);
            if (!has_value(run, i, pick, axis, value) &&
                !has_value(other, other->cell_count, pick, axis, value))
                fprintf(list_next(list), "%s (only %s)", value, which);
            free(value);
        }
}

char *unlike_axes(const struct run *a, const struct run *b,
                  bool (*counts)(const struct cell *, const void *), const void *context) {
    struct list list;
    struct pick pick = {counts, context};
    list_open(&list);
    add_own(&list, a, b, &pick, "A");
    add_own(&list, b, a, &pick, "B");
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *cell = run_cell(b, a->cells[i].name);
        if (cell && counts(cell, context) && !same_axes(&a->cells[i].axes, &cell->axes))
            fprintf(list_next(&list), "the axes of %s", cell->name);
    }
    return list_close(&list);
}
