/* How much memory a block may take: the machine's, or less where a cgroup (v1 or v2) says so. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

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

static bool number_in(const char *directory, const char *name, uint64_t *out) {
    char path[1024];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return false;
    FILE *f = fopen(path, "re");
    bool found = f && fscanf(f, "%" SCNu64, out) == 1; /* "max" is no number, and no limit */
    if (f)
        fclose(f);
    return found;
}

/* The least rest of a cgroup and of all above it. */
static uint64_t rest(const char *root, const char *group, const char *limit_name,
                     const char *usage_name) {
    char directory[1024];
    uint64_t least = UINT64_MAX, limit, usage;
    if ((size_t)snprintf(directory, sizeof directory, "%s%s", root, group) >= sizeof directory)
        return least;
    for (;;) {
        if (number_in(directory, limit_name, &limit) && number_in(directory, usage_name, &usage)) {
            uint64_t left = limit > usage ? limit - usage : 0;
            if (left < least)
                least = left;
        }
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= strlen(root) || !slash)
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
            left = rest("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                        "memory.usage_in_bytes");
        else if (strcmp(controllers, ":") == 0)
            left = rest("/sys/fs/cgroup", group, "memory.max", "memory.current");
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
