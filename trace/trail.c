#include "trail.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };
static struct trail *buckets[BUCKETS];

static unsigned hash_of(const char *const *names, size_t count) {
    unsigned hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        for (const char *c = names[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * 16777619;
            if (!*c)
                break;
        }
    return hash;
}

static bool is_same(const struct trail *trail, const char *const *names, size_t count) {
    bool same = trail->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = strcmp(trail->names[i], names[i]) == 0;
    return same;
}

static struct trail *make(const char *const *names, size_t count) {
    struct trail *trail = calloc(1, sizeof *trail + count * sizeof *names);
    for (; trail && trail->count < count; trail->count++) {
        trail->names[trail->count] = strdup(names[trail->count]);
        if (trail->names[trail->count])
            continue;
        while (trail->count > 0)
            free((char *)trail->names[--trail->count]);
        free(trail);
        return NULL;
    }
    return trail;
}

const struct trail *trail_get(const char *const *names, size_t count) {
    unsigned hash = hash_of(names, count);
    struct trail **at = &buckets[hash % BUCKETS];
    for (struct trail *t = *at; t; t = t->next)
        if (t->hash == hash && is_same(t, names, count))
            return t;
    struct trail *trail = make(names, count);
    if (!trail)
        return NULL;
    trail->hash = hash;
    trail->next = *at;
    return *at = trail;
}
