#include "hints.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "program.h"

struct hint {
    struct hint *next;
    char *frame, *program; /* patterns; one of them */
    char *text;
};

struct hints {
    struct hint *first, **last;
};

void hints_free(struct hints *hints) {
    if (!hints)
        return;
    for (struct hint *h = hints->first, *next; h; h = next) {
        next = h->next;
        free(h->frame);
        free(h->program);
        free(h->text);
        free(h);
    }
    free(hints);
}

/* "frame PATTERN: TEXT" or "program PATTERN: TEXT". NULL, or what is wrong with it. */
static const char *add(struct hints *hints, char *line) {
    char *space = strchr(line, ' '), *colon = strstr(line, ": ");
    if (!space || !colon || colon < space)
        return "is not 'frame PATTERN: TEXT' or 'program PATTERN: TEXT'";
    *space = *colon = '\0';
    bool frame = strcmp(line, "frame") == 0;
    if (!frame && strcmp(line, "program") != 0)
        return "begins with neither 'frame' nor 'program'";
    struct hint *h = calloc(1, sizeof *h);
    if (!h)
        return "does not fit into memory";
    *(frame ? &h->frame : &h->program) = strdup(space + 1);
    h->text = strdup(colon + 2);
    *hints->last = h;
    hints->last = &h->next;
    return h->text && (h->frame || h->program) ? NULL : "does not fit into memory";
}

static int read_lines(struct hints *hints, FILE *file, const char *path) {
    char *line = NULL;
    const char *wrong = NULL;
    size_t room = 0, number = 0;
    while (!wrong && getline(&line, &room, file) > 0) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] && line[0] != '#')
            wrong = add(hints, line);
    }
    free(line);
    return wrong ? complain(USAGE, "%s: line %zu %s", path, number, wrong) : OK;
}

int hints_read(struct hints **out) {
    char path[4096];
    if (!path_hints(path, sizeof path))
        return complain(INTERNAL, "the file of hints cannot be found: its path is too long");
    FILE *file = fopen(path, "re");
    if (!file)
        return complain(INTERNAL, "%s cannot be read: %s", path, strerror(errno));
    struct hints *hints = *out = calloc(1, sizeof *hints);
    int code = hints ? OK : complain(INTERNAL, "no memory");
    if (hints) {
        hints->last = &hints->first;
        code = read_lines(hints, file, path);
    }
    fclose(file);
    return code;
}

static bool fits(const struct hint *h, const char *program, const struct trail *trail) {
    if (h->program)
        return fnmatch(h->program, program, 0) == 0;
    for (size_t i = 0; trail && i < trail->count; i++)
        if (fnmatch(h->frame, trail->names[i], 0) == 0)
            return true;
    return false;
}

const char *hints_find(const struct hints *hints, const char *program, const struct trail *trail) {
    for (const struct hint *h = hints ? hints->first : NULL; h; h = h->next)
        if (fits(h, program, trail))
            return h->text;
    return NULL;
}
