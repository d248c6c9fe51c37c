#include "sharing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void add(const char *line, const char *key, uint64_t *sum) {
    uint64_t kib;
    size_t length = strlen(key);
    if (strncmp(line, key, length) == 0 && line[length] == ':' &&
        sscanf(line + length + 1, "%" SCNu64, &kib) == 1)
        *sum += kib << 10;
}

void sharing_read(struct sharing *s, pid_t pid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *file = fopen(path, "re");
    uint64_t before = s->resident;
    while (file && fgets(line, sizeof line, file)) {
        add(line, "Rss", &s->resident);
        add(line, "Pss", &s->proportional);
        add(line, "Shared_Clean", &s->shared);
        add(line, "Shared_Dirty", &s->shared);
    }
    if (file)
        fclose(file);
    s->processes += s->resident > before; /* else it ends just now */
}

void sharings_add(struct sharings *all, const struct sharing *s) {
    if (all->used == all->room) {
        all->room = all->room ? 2 * all->room : 64;
        all->list = must(reallocarray(all->list, all->room, sizeof *all->list));
    }
    all->list[all->used++] = *s;
}

double sharing_percent(const struct sharing *s) {
    return s->resident ? 100 * (double)s->shared / (double)s->resident : 0;
}

void sharings_thin(struct sharings *all, size_t most) {
    if (all->used <= most)
        return;
    for (size_t i = 0; i < most; i++)
        all->list[i] = all->list[i * (all->used - 1) / (most - 1)];
    all->used = most;
}
