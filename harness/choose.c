#include "choose.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"
#include "similar.h"

static const char ENDING[] = ".yaml";

static bool has_ending(const char *name) {
    size_t length = strlen(name), ending = strlen(ENDING);
    return length > ending && strcmp(name + length - ending, ENDING) == 0;
}

static int is_matrix(const struct dirent *entry) {
    return entry->d_name[0] != '.' && has_ending(entry->d_name);
}

char **matrix_names(size_t *count) {
    char folder[PATH_SIZE];
    struct dirent **entries = NULL;
    int found =
        path_matrices(folder, sizeof folder) ? scandir(folder, &entries, is_matrix, alphasort) : -1;
    char **names = calloc(found > 0 ? (size_t)found : 1, sizeof *names);
    *count = 0;
    for (int i = 0; i < found; i++) {
        const char *file = entries[i]->d_name;
        if (names && (names[*count] = strndup(file, strlen(file) - strlen(ENDING))))
            ++*count;
        free(entries[i]);
    }
    free(entries);
    return names;
}

void matrix_names_free(char **names, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static bool find_shipped(struct choice *c, char *why, size_t size) {
    char folder[PATH_SIZE];
    size_t count;
    char **names = matrix_names(&count);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || strcmp(names[i], c->name) == 0;
    const char *meant = similar(c->name, (const char *const *)names, count);
    if (found)
        found = path_matrices(folder, sizeof folder) &&
                (size_t)snprintf(c->path, sizeof c->path, "%s/%s%s", folder, c->name, ENDING) <
                    sizeof c->path;
    else if (meant)
        snprintf(why, size, "there is no matrix '%s'; did you mean %s?", c->name, meant);
    else
        snprintf(why, size, "there is no matrix '%s'; --list names those that there are", c->name);
    matrix_names_free(names, count);
    return found;
}

/* A name is that of one that ships; anything that looks like a file is a file. */
static bool find_file(struct choice *c, char *why, size_t size) {
    if (!strchr(c->name, '/') && !has_ending(c->name))
        return find_shipped(c, why, size);
    snprintf(c->path, sizeof c->path, "%s", c->name);
    return true;
}

static bool filter(struct choice *c, char *why, size_t size) {
    regex_t regex;
    char reason[256], example[CELL_NAME_SIZE];
    int rc = regcomp(&regex, c->filter, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        regerror(rc, &regex, reason, sizeof reason);
        snprintf(why, size, "--filter: '%s' is not a regular expression: %s", c->filter, reason);
        return false;
    }
    snprintf(example, sizeof example, "%s", c->matrix.cells[c->matrix.count - 1].name);
    matrix_filter(&c->matrix, &regex);
    regfree(&regex);
    if (c->matrix.count == 0)
        snprintf(why, size, "--filter: no cell's name matches '%s'; one of them is %s", c->filter,
                 example);
    return c->matrix.count > 0;
}

/* What a record can hold. */
static bool is_text(const char *name, char *why, size_t size) {
    json_t *text = json_string(name);
    if (!text)
        snprintf(why, size, "a name is not UTF-8: %s", name);
    json_decref(text);
    return text;
}

bool choice_make(struct choice *c, char *why, size_t size) {
    if (!find_file(c, why, size))
        return false;
    c->recipe = recipe_load(c->path, why, size);
    if (!c->recipe)
        return false;
    const char *file = target_name(c->path);
    snprintf(c->stem, sizeof c->stem, "%.*s",
             (int)(strlen(file) - (has_ending(file) ? strlen(ENDING) : 0)), file);
    c->matrix.name = c->stem;
    if (!is_text(c->stem, why, size))
        return false;
    return matrix_fill(&c->matrix, c->recipe, &c->overrides, c->path, why, size) &&
           (!c->filter || filter(c, why, size)) && targets_are_there(&c->matrix, why, size);
}

void choice_clear(struct choice *c) {
    matrix_clear(&c->matrix);
    recipe_free(c->recipe);
    c->recipe = NULL;
}

bool target_path(const struct cell *cell, char *out, size_t size) {
    if (target_is_known(cell->target))
        return path_target(cell->target, out, size);
    return (size_t)snprintf(out, size, "%s", cell->target) < size;
}

bool target_id(const struct cell *cell, char out[17]) {
    char path[PATH_SIZE];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    FILE *file = target_path(cell, path, sizeof path) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    for (int byte; (byte = getc_unlocked(file)) != EOF;)
        hash = (hash ^ (uint64_t)byte) * UINT64_C(0x100000001b3);
    bool good = !ferror(file);
    fclose(file);
    snprintf(out, 17, "%016" PRIx64, hash);
    return good;
}

bool targets_are_there(const struct matrix *m, char *why, size_t size) {
    const char *last = "";
    for (size_t i = 0; i < m->count; i++) {
        char path[PATH_SIZE] = "";
        struct stat file;
        if (strcmp(m->cells[i].target, last) == 0)
            continue;
        last = m->cells[i].target;
        if (!is_text(target_name(last), why, size))
            return false;
        if (!target_path(&m->cells[i], path, sizeof path) || stat(path, &file) < 0 ||
            access(path, X_OK) < 0) {
            snprintf(why, size, "the target %s cannot be executed: %s", path[0] ? path : last,
                     path[0] ? strerror(errno) : "its path is too long");
            return false;
        }
        if (!S_ISREG(file.st_mode)) {
            snprintf(why, size, "the target %s is no file", path);
            return false;
        }
    }
    return true;
}
