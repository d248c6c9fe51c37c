#pragma once

#include <jansson.h>
#include <stddef.h>

/* The fields of an object as texts, those of inner objects as "outer.inner", in the file's order.
 */

struct fact {
    char *key;
    char *value;
};

struct facts {
    size_t count;
    struct fact *list;
};

/* Lists are left out. */
void facts_add(struct facts *facts, const char *before, json_t *object);
void facts_free(struct facts *facts);
