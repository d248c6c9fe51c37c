#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_line.h"

static bool read_cell(struct past *p, json_t *line) {
    const char *name = json_string_value(json_object_get(line, "cell"));
    const char *state = json_string_value(json_object_get(line, "state"));
    json_t *number = json_object_get(line, "round");
    json_int_t round = json_is_integer(number) ? json_integer_value(number) : -1;
    size_t i = 0;
    while (name && i < p->matrix.count && strcmp(p->matrix.cells[i].name, name) != 0)
        i++;
    if (!name || !state || i == p->matrix.count || round < 0 || round >= p->rounds)
        return false;
    bool *done = &p->done[(size_t)round * p->matrix.count + i];
    if (*done)
        return false;
    *done = true;
    p->failed += strcmp(state, "failed") == 0 || strcmp(state, "timeout") == 0;
    return true;
}

static bool read_resume(struct past *p, json_t *line) {
    json_int_t rounds = json_integer_value(json_object_get(line, "rounds"));
    if (rounds < p->rounds || rounds > ROUNDS_MAX)
        return false;
    p->rounds = (unsigned)rounds;
    return true;
}

/* A line after the first. What the reports would refuse must not be made longer. */
static bool read_line(struct past *p, json_t *line, bool *after_end) {
    const char *kind = json_string_value(json_object_get(line, "kind"));
    bool resumes = kind && strcmp(kind, "resume") == 0;
    if (!kind || (*after_end && !resumes))
        return false;
    p->ended = *after_end = strcmp(kind, "end") == 0;
    if (resumes)
        return read_resume(p, line);
    if (strcmp(kind, "cell") == 0)
        return read_cell(p, line);
    if (*after_end)
        p->ended = json_is_false(json_object_get(line, "interrupted"));
    return *after_end || strcmp(kind, "block") == 0;
}

static bool read_first(struct past *p, json_t *line, char *why, size_t size) {
    p->line = json_incref(line);
    if (!run_line_read(line, &p->matrix, &p->rounds, &p->seed, why, size))
        return false;
    p->done = calloc(ROUNDS_MAX * p->matrix.count, sizeof *p->done);
    if (!p->done)
        snprintf(why, size, "no memory");
    return p->done;
}

static bool read_lines(struct past *p, FILE *file, char *why, size_t size) {
    char *text = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    bool good = true, after_end = false;
    while (good && (length = getline(&text, &room, file)) > 0 && text[length - 1] == '\n') {
        json_t *line = json_loadb(text, (size_t)length, 0, NULL);
        if (++number == 1) {
            good = read_first(p, line, why, size);
        } else if (!line || !read_line(p, line, &after_end)) {
            snprintf(why, size, "line %zu is no line of this run", number);
            good = false;
        }
        json_decref(line);
        p->size += length;
    }
    p->ended = p->ended && length < 0; /* nothing stands behind it */
    free(text);
    if (good && !feof(file) && length < 0) {
        snprintf(why, size, "it cannot be read: %s", strerror(errno));
        good = false;
    } else if (good && number == 0) {
        snprintf(why, size, "there is no whole line in it: no run began");
        good = false;
    }
    return good;
}

bool past_read(struct past *p, int fd, char *why, size_t size) {
    *p = (struct past){0};
    int copy = dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file) {
        snprintf(why, size, "it cannot be read: %s", strerror(errno));
        if (copy >= 0)
            close(copy);
        return false;
    }
    bool good = read_lines(p, file, why, size);
    fclose(file);
    return good;
}

void past_clear(struct past *p) {
    matrix_clear(&p->matrix);
    free(p->done);
    json_decref(p->line);
}

size_t past_lacks(const struct past *p, unsigned rounds) {
    size_t lacks = 0;
    for (size_t i = 0; i < rounds * p->matrix.count; i++)
        lacks += !p->done[i] &&
                 cell_is_in(&p->matrix.cells[i % p->matrix.count], (unsigned)(i / p->matrix.count));
    return lacks;
}
