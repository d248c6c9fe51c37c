/* The file of a matrix. libcyaml reads it; libyaml says where a text stands. */
#include <cyaml/cyaml.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "matrix.h"
#include "similar.h"

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 4095)};

enum { ENTRY_FIELDS = AXES_MAX + 3 };

static cyaml_schema_field_t entry_fields[ENTRY_FIELDS]; /* filled before it is used */
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

static const char *const keys_of_matrix[] = {"about", "rounds", "samples", "samples_of_big_copies",
                                             "cells"};
enum { KEYS_OF_MATRIX = sizeof keys_of_matrix / sizeof *keys_of_matrix };

/* Every entry names its strategy; what else it does not name is at its default. */
static void fill_entry_fields(void) {
    for (size_t i = 0; i < axis_count; i++) {
        const cyaml_schema_field_t field = CYAML_FIELD_SEQUENCE_COUNT(
            axes[i].name, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct entry, axes[0].text,
            axes[0].count, &text_schema, 1, CYAML_UNLIMITED);
        entry_fields[i] = field;
        entry_fields[i].data_offset = (uint32_t)offsetof(struct entry, axes[i].text);
        entry_fields[i].count_offset = (uint32_t)offsetof(struct entry, axes[i].count);
        if (i == 0)
            entry_fields[i].value.flags &= ~(cyaml_flag_e)CYAML_FLAG_OPTIONAL;
    }
    entry_fields[axis_count] = (cyaml_schema_field_t)CYAML_FIELD_UINT_PTR(
        "samples", CYAML_FLAG_OPTIONAL, struct entry, samples);
    entry_fields[axis_count + 1] = (cyaml_schema_field_t)CYAML_FIELD_UINT_PTR(
        "rounds", CYAML_FLAG_OPTIONAL, struct entry, rounds);
    entry_fields[axis_count + 2] = (cyaml_schema_field_t)CYAML_FIELD_END;
}

static bool is_key(const char *text) {
    bool is = axis_find(text);
    for (size_t i = 0; i < KEYS_OF_MATRIX && !is; i++)
        is = strcmp(text, keys_of_matrix[i]) == 0;
    return is;
}

static const char *similar_key(const char *text) {
    const char *keys[KEYS_OF_MATRIX + AXES_MAX];
    size_t count = 0;
    for (; count < KEYS_OF_MATRIX; count++)
        keys[count] = keys_of_matrix[count];
    for (size_t i = 0; i < axis_count; i++)
        keys[count++] = axes[i].name;
    return similar(text, keys, count);
}

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
            if (key && is_key(scalar))
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

/* What libcyaml says, its place, and what our users read. Where it refuses a key the place is that
 * of what stands before it. */
static const struct {
    const char *said, *says;
    bool at_key;
} reasons[] = {
    {"Unexpected key: ", "there is no key ", true},
    {"Mapping field already seen: ", "twice the key ", true},
    {"Missing required mapping field: ", "here or before, there must be the key ", false},
    {"Expecting SEQUENCE, got event: ", "this must be a list: [a, b], not a ", false},
    {"Expecting MAPPING, got event: ", "this must be keys with values, not a ", false},
    {"Invalid uint64_t value: ", "no whole number: ", false},
    {"Invalid UINT value: ", "no whole number: ", false},
    {"libyaml: ", "", false},
};

static void explain(const char *path, struct complaint *c, char *why, size_t size) {
    const char *says = "", *rest = c->reason, *meant = NULL;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        size_t length = strlen(reasons[i].said);
        if (strncmp(c->reason, reasons[i].said, length) != 0)
            continue;
        says = reasons[i].says;
        rest = c->reason + length;
        if (reasons[i].at_key)
            recipe_position(path, NULL, rest, &c->line, &c->column);
        if (i == 0)
            meant = similar_key(rest);
        break;
    }
    snprintf(why, size, "%s: line %u, column %u: %s%s%s%s%s", path, c->line ? c->line : 1,
             c->column ? c->column : 1, says, rest, meant ? "; did you mean " : "",
             meant ? meant : "", meant ? "?" : "");
}

static bool check_count(const char *path, const char *key, unsigned value, unsigned most, char *why,
                        size_t size) {
    char text[16];
    unsigned line = 1, column = 1;
    if (value >= 1 && value <= most)
        return true;
    snprintf(text, sizeof text, "%u", value);
    recipe_position(path, key, text, &line, &column);
    snprintf(why, size, "%s: line %u, column %u: %s: %u is not from 1 to %u", path, line, column,
             key, value, most);
    return false;
}

/* What a schema cannot say. */
static bool check(const char *path, const struct recipe *r, char *why, size_t size) {
    if (!check_count(path, "rounds", r->rounds, ROUNDS_MAX, why, size) ||
        !check_count(path, "samples", r->samples, SAMPLES_MAX, why, size) ||
        !check_count(path, "samples_of_big_copies", r->samples_of_big_copies, SAMPLES_MAX, why,
                     size))
        return false;
    for (unsigned i = 0; i < r->entries_count; i++) {
        const struct entry *e = &r->entries[i];
        if ((e->samples && !check_count(path, "samples", *e->samples, SAMPLES_MAX, why, size)) ||
            (e->rounds && !check_count(path, "rounds", *e->rounds, ROUNDS_MAX, why, size)))
            return false;
    }
    return true;
}

struct recipe *recipe_load(const char *path, char *why, size_t size) {
    struct complaint complaint = {0};
    const cyaml_config_t c = configure(&complaint);
    struct recipe *recipe = NULL;
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool there = fd >= 0 && fstat(fd, &file) == 0;
    if (!there || !S_ISREG(file.st_mode)) {
        snprintf(why, size, "%s cannot be opened: %s", path,
                 there ? "it is no file" : strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    close(fd);
    fill_entry_fields();
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
