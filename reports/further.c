#include "further.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

const char *further_value(const char *more, const char *axis) {
    size_t length = strlen(axis);
    for (const char *part = more; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, axis, length) && part[length] == ':')
            return part + length + 1;
    }
    return NULL;
}

bool further_is(const char *more, const char *axis, const char *value) {
    const char *found = further_value(more, axis);
    size_t length = strlen(value);
    return found && strcspn(found, "/") == length && !strncmp(found, value, length);
}

char *further_without(const char *more, const char *axis) {
    const char *value = further_value(more, axis);
    if (!value)
        return must(strdup(more));
    const char *part = value - strlen(axis) - 1, *rest = strchr(value, '/');
    if (rest)
        return sentence("%.*s%s", (int)(part - more), more, rest + 1);
    return must(strndup(more, part > more ? (size_t)(part - more) - 1 : 0));
}
