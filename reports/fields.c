#include "fields.h"

#include "memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool refuse(struct source *source, const char *format, ...) {
    char *what = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&what, format, arguments);
    va_end(arguments);
    must(length < 0 ? NULL : what);
    free(source->error);
    source->error = source->line ? sentence("%s:%zu: %s", source->path, source->line, what)
                                 : sentence("%s: %s", source->path, what);
    free(what);
    return false;
}

char *printable(char *text) {
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    return text;
}

static bool refuse_field(struct source *source, const json_t *value, const char *key,
                         const char *type) {
    return value ? refuse(source, "`%s` is not %s", key, type)
                 : refuse(source, "`%s` is missing", key);
}

bool field_text(struct source *source, const json_t *object, const char *key, char **text) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return refuse_field(source, value, key, "a text");
    *text = printable(must(strdup(json_string_value(value))));
    return true;
}

bool field_optional_text(struct source *source, const json_t *object, const char *key,
                         char **text) {
    return !json_object_get(object, key) || field_text(source, object, key, text);
}

bool field_whole(struct source *source, const json_t *object, const char *key, int64_t least,
                 int64_t *whole) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return refuse_field(source, value, key, "a whole number");
    *whole = json_integer_value(value);
    return *whole >= least || refuse(source, "`%s` is below %jd", key, (intmax_t)least);
}

bool field_optional_whole(struct source *source, const json_t *object, const char *key,
                          int64_t least, int64_t *whole) {
    return !json_object_get(object, key) || field_whole(source, object, key, least, whole);
}

bool field_number(struct source *source, const json_t *object, const char *key, double *number) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        return refuse_field(source, value, key, "a number");
    *number = json_number_value(value);
    return *number >= 0 || refuse(source, "`%s` is below 0", key);
}

bool field_flag(struct source *source, const json_t *object, const char *key, bool *flag) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        return refuse_field(source, value, key, "true or false");
    *flag = json_is_true(value);
    return true;
}

bool field_array(struct source *source, const json_t *object, const char *key, json_t **array) {
    *array = json_object_get(object, key);
    return json_is_array(*array) || refuse_field(source, *array, key, "a list");
}

bool field_object(struct source *source, const json_t *object, const char *key, json_t **inner) {
    *inner = json_object_get(object, key);
    return json_is_object(*inner) || refuse_field(source, *inner, key, "an object");
}

json_t *load_json(struct source *source) {
    json_error_t broken;
    FILE *file = fopen(source->path, "re");
    if (!file) {
        refuse(source, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    json_t *object = json_loadf(file, JSON_REJECT_DUPLICATES, &broken);
    fclose(file);
    if (!object) {
        source->line = broken.line > 0 ? (size_t)broken.line : 0;
        refuse(source, "broken JSON: %s", printable(broken.text));
    }
    return object;
}
