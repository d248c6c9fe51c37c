#include "facts.h"

#include "fields.h"
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* NULL of a list or an object. */
static char *value_of(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        return printable(must(strdup(json_string_value(value))));
    case JSON_INTEGER:
        return sentence("%jd", (intmax_t)json_integer_value(value));
    case JSON_REAL:
        return sentence("%g", json_real_value(value));
    case JSON_TRUE:
        return must(strdup("yes"));
    case JSON_FALSE:
        return must(strdup("no"));
    case JSON_NULL:
        return must(strdup("no limit"));
    default:
        return NULL;
    }
}

void facts_add(struct facts *facts, const char *before, json_t *object) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        char *key = printable(sentence("%s%s", before, name));
        char *text = value_of(value);
        if (text) {
            facts->list = must(reallocarray(facts->list, facts->count + 1, sizeof *facts->list));
            facts->list[facts->count++] = (struct fact){.key = key, .value = text};
            continue;
        }
        if (json_is_object(value)) {
            char *inner = sentence("%s.", key);
            facts_add(facts, inner, value);
            free(inner);
        }
        free(key);
    }
}

void facts_free(struct facts *facts) {
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->list[i].key);
        free(facts->list[i].value);
    }
    free(facts->list);
}
