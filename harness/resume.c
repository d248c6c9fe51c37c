#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_line.h"

/* A line after the first. What the reports would refuse must not be made longer. */
static bool read_line(struct past *p, json_t *line) {
    const char *kind = json_string_value(json_object_get(line, "kind"));
    const char *name = json_string_value(json_object_get(line, "cell"));
    json_t *round = json_object_get(line, "round"), *rounds = json_object_get(line, "rounds");
    if (!kind)
        return false;
    if (strcmp(kind, "resume") == 0) {
        json_int_t n = json_integer_value(rounds);
        if (n < p->rounds || n > ROUNDS_MAX)
            return false;
        p->rounds = (unsigned)n;
    }
    if (strcmp(kind, "cell") != 0)
        return true;
    json_int_t r = json_is_integer(round) ? json_integer_value(round) : -1;
    if (!name || r < 0 || r >= p->rounds)
        return false;
    for (size_t i = 0; i < p->matrix.count; i++)
        if (strcmp(p->matrix.cells[i].name, name) == 0) {
            p->done[(size_t)r * p->matrix.count + i] = true;
            return true;
        }
    return false;
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
    bool good = true;
    while (good && (length = getline(&text, &room, file)) > 0 && text[length - 1] == '\n') {
        json_t *line = json_loadb(text, (size_t)length, 0, NULL);
        if (++number == 1) {
            good = read_first(p, line, why, size);
        } else if (!line || !read_line(p, line)) {
            snprintf(why, size, "line %zu is no line of this run", number);
            good = false;
        }
        json_decref(line);
        p->size += length;
    }
    free(text);
    if (good && number == 0) {
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
        lacks += !p->done[i];
    return lacks;
}
