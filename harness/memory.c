#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

static uint64_t machine(void) {
    uint64_t kib = 0;
    char line[256];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

/* The number in a file, or behind a word in it. */
static bool number_in(const char *directory, const char *name, const char *word, uint64_t *out) {
    char path[1024], key[64];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return false;
    FILE *f = fopen(path, "re");
    bool found = false;
    if (f && !word)
        found = fscanf(f, "%" SCNu64, out) == 1; /* "max" is no number, and no limit */
    while (f && word && !found && fscanf(f, "%63s %" SCNu64, key, out) == 2)
        found = strcmp(key, word) == 0;
    if (f)
        fclose(f);
    return found;
}

struct files { /* of a memory cgroup */
    const char *root, *limit, *usage, *cache;
};
static const struct files v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                "memory.usage_in_bytes", "total_inactive_file"};
static const struct files v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/* The least rest of a cgroup and of all above it. Cached files are given back when memory is
 * wanted. */
static uint64_t rest(const struct files *files, const char *group) {
    char directory[1024];
    uint64_t least = UINT64_MAX, limit, usage, cache;
    if ((size_t)snprintf(directory, sizeof directory, "%s%s", files->root, group) >=
        sizeof directory)
        return least;
    for (;;) {
        if (number_in(directory, files->limit, NULL, &limit) &&
            number_in(directory, files->usage, NULL, &usage)) {
            if (number_in(directory, "memory.stat", files->cache, &cache) && cache < usage)
                usage -= cache;
            uint64_t left = limit > usage ? limit - usage : 0;
            if (left < least)
                least = left;
        }
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= strlen(files->root) || !slash)
            return least;
        *slash = '\0';
    }
}

uint64_t memory_available(void) {
    uint64_t least = machine(), left;
    char line[1024];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (strcmp(controllers, ":memory") == 0)
            left = rest(&v1, group);
        else if (strcmp(controllers, ":") == 0)
            left = rest(&v2, group);
        else
            continue;
        if (left < least)
            least = left;
    }
    if (f)
        fclose(f);
    return least;
}

uint64_t block_memory(uint64_t rss) {
    return rss + rss / 128 + (UINT64_C(64) << 20);
}
