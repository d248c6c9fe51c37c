/* The file of a matrix. libcyaml reads it; libyaml says where a text stands. */
#include <cyaml/cyaml.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "matrix.h"
#include "similar.h"

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 4095)};

#define AXIS(key, axis, flags)                                                                     \
    CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | (flags), struct entry, axes[axis].text,   \
                               axes[axis].count, &text_schema, 1, CYAML_UNLIMITED)

static const cyaml_schema_field_t entry_fields[] = {
    AXIS("strategy", AXIS_STRATEGY, CYAML_FLAG_DEFAULT),
    AXIS("rss", AXIS_RSS, CYAML_FLAG_OPTIONAL),
    AXIS("gap", AXIS_GAP, CYAML_FLAG_OPTIONAL),
    AXIS("at_once", AXIS_AT_ONCE, CYAML_FLAG_OPTIONAL),
    AXIS("target", AXIS_TARGET, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_UINT("samples", CYAML_FLAG_OPTIONAL, struct entry, samples),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t entry_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct entry, entry_fields)};
static const cyaml_schema_field_t recipe_fields[] = {
    CYAML_FIELD_STRING_PTR("about", CYAML_FLAG_POINTER, struct recipe, about, 1, 200),
    CYAML_FIELD_UINT("rounds", CYAML_FLAG_DEFAULT, struct recipe, rounds),
    CYAML_FIELD_UINT("samples", CYAML_FLAG_DEFAULT, struct recipe, samples),
    CYAML_FIELD_UINT("samples_of_big_copies", CYAML_FLAG_DEFAULT, struct recipe,
                     samples_of_big_copies),
    CYAML_FIELD_SEQUENCE("cells", CYAML_FLAG_POINTER, struct recipe, entries, &entry_schema, 1,
                         CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t recipe_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct recipe, recipe_fields)};

bool recipe_position(const char *path, const char *key, const char *text, unsigned *line,
                     unsigned *column) {
    yaml_parser_t parser;
    yaml_event_t event = {0};
    FILE *file = fopen(path, "re");
    if (!file || !yaml_parser_initialize(&parser)) {
        if (file)
            fclose(file);
        return false;
    }
    yaml_parser_set_input_file(&parser, file);
    bool found = false, below = key == NULL, more = true;
    while (!found && more && yaml_parser_parse(&parser, &event)) {
        more = event.type != YAML_STREAM_END_EVENT;
        if (event.type == YAML_SCALAR_EVENT) {
            const char *scalar = (const char *)event.data.scalar.value;
            unsigned at_line = (unsigned)event.start_mark.line + 1,
                     at_column = (unsigned)event.start_mark.column + 1;
            for (enum axis a = 0; key && a < AXES; a++)
                if (strcmp(scalar, axis_names[a]) == 0)
                    below = strcmp(scalar, key) == 0;
            found = below && strcmp(scalar, text) == 0 &&
                    (key || at_line > *line || (at_line == *line && at_column >= *column));
            if (found) {
                *line = at_line;
                *column = at_column;
            }
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return found;
}

/* What libcyaml logs of an error: the reason, then where it was, from the inside out. */
struct complaint {
    char reason[256];
    unsigned line, column;
};

static void hear(cyaml_log_t level, void *context, const char *format, va_list arguments) {
    struct complaint *c = context;
    char text[256];
    (void)level;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const char *said = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
    const char *where = strstr(text, "(line: ");
    if (!c->reason[0])
        snprintf(c->reason, sizeof c->reason, "%s", said);
    else if (where && c->line == 0)
        sscanf(where, "(line: %u, column: %u)", &c->line, &c->column);
}

static cyaml_config_t configure(struct complaint *c) {
    return (cyaml_config_t){
        .log_level = CYAML_LOG_ERROR, .log_fn = hear, .log_ctx = c, .mem_fn = cyaml_mem};
}

/* The place that libcyaml names when it refuses a key is that of what stands before it. */
static void explain(const char *path, struct complaint *c, char *why, size_t size) {
    static const char unknown[] = "Unexpected key: ", twice[] = "Mapping field already seen: ";
    static const char *const keys[] = {"about",    "rounds", "samples", "samples_of_big_copies",
                                       "strategy", "rss",    "gap",     "at_once",
                                       "target",   "cells"};
    const char *meant = NULL;
    if (strncmp(c->reason, unknown, strlen(unknown)) == 0) {
        const char *key = c->reason + strlen(unknown);
        recipe_position(path, NULL, key, &c->line, &c->column);
        meant = similar(key, keys, sizeof keys / sizeof *keys);
    } else if (strncmp(c->reason, twice, strlen(twice)) == 0) {
        recipe_position(path, NULL, c->reason + strlen(twice), &c->line, &c->column);
    }
    snprintf(why, size, "%s: line %u, column %u: %s%s%s%s", path, c->line ? c->line : 1,
             c->column ? c->column : 1, c->reason, meant ? "; did you mean " : "",
             meant ? meant : "", meant ? "?" : "");
}

/* What a schema cannot say. */
static bool check(const char *path, const struct recipe *r, char *why, size_t size) {
    const struct {
        const char *name;
        unsigned value, least, most;
    } counts[] = {{"rounds", r->rounds, 1, ROUNDS_MAX},
                  {"samples", r->samples, 1, SAMPLES_MAX},
                  {"samples_of_big_copies", r->samples_of_big_copies, 1, SAMPLES_MAX}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most) {
            unsigned line = 0, column = 0;
            recipe_position(path, NULL, counts[i].name, &line, &column);
            snprintf(why, size, "%s: line %u, column %u: %s: %u is not from %u to %u", path, line,
                     column, counts[i].name, counts[i].value, counts[i].least, counts[i].most);
            return false;
        }
    return true;
}

struct recipe *recipe_load(const char *path, char *why, size_t size) {
    struct complaint complaint = {0};
    const cyaml_config_t c = configure(&complaint);
    struct recipe *recipe = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, size, "%s cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    close(fd);
    if (cyaml_load_file(path, &c, &recipe_schema, (cyaml_data_t **)&recipe, NULL) != CYAML_OK) {
        explain(path, &complaint, why, size);
        return NULL;
    }
    if (!recipe) {
        snprintf(why, size, "%s asks for nothing: it is empty", path);
        return NULL;
    }
    if (check(path, recipe, why, size))
        return recipe;
    recipe_free(recipe);
    return NULL;
}

void recipe_free(struct recipe *recipe) {
    struct complaint unheard = {0};
    const cyaml_config_t c = configure(&unheard);
    cyaml_free(&c, &recipe_schema, recipe, 0);
}
