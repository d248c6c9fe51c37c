#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the fields of a JSON object by type. Each function is false when the field is not as it
 * should be, and then the source holds one sentence that says what is wrong and where.
 */
struct source {
    const char *path;
    size_t line; /* 0: the file as a whole */
    char *error; /* malloced */
};

bool refuse(struct source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The one value that the file is; NULL when it cannot be read or is no JSON. */
json_t *load_json(struct source *source);

bool field_text(struct source *source, const json_t *object, const char *key, char **text);
/* Leaves the text as it is when the field is absent. */
bool field_optional_text(struct source *source, const json_t *object, const char *key, char **text);
bool field_whole(struct source *source, const json_t *object, const char *key, int64_t least,
                 int64_t *whole);
/* Leaves the number as it is when the field is absent. */
bool field_optional_whole(struct source *source, const json_t *object, const char *key,
                          int64_t least, int64_t *whole);
bool field_number(struct source *source, const json_t *object, const char *key, double *number);
bool field_flag(struct source *source, const json_t *object, const char *key, bool *flag);
bool field_array(struct source *source, const json_t *object, const char *key, json_t **array);
bool field_object(struct source *source, const json_t *object, const char *key, json_t **inner);

/* Blanks control characters, so that no file can steer the reader's terminal. */
char *printable(char *text);
