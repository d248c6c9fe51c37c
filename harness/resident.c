/* What the kernel says of a block's memory, and whether that is the ballast asked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ballast.h"

/* A block without ballast has less than this, with the harness, its libraries and its samples. */
static const uint64_t own_memory = 48 << 20;

/* Adds up what stands behind these keys of a file, in KiB. 0 or -errno. */
static int read_amounts(pid_t pid, const char *name, size_t count, const char *const *keys,
                        uint64_t *const *bytes) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return -errno;
    while (fgets(line, sizeof line, f))
        for (size_t i = 0; i < count; i++) {
            uint64_t kib;
            size_t length = strlen(keys[i]);
            if (strncmp(line, keys[i], length) == 0 && line[length] == ':' &&
                sscanf(line + length + 1, "%" SCNu64, &kib) == 1)
                *bytes[i] += kib << 10;
        }
    fclose(f);
    return 0;
}

static uint64_t count_lines(pid_t pid, const char *name) {
    char path[64], bytes[65536];
    uint64_t lines = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *f = fopen(path, "re");
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        for (size_t i = 0; i < n; i++)
            lines += bytes[i] == '\n';
    if (f)
        fclose(f);
    return lines;
}

int resident_of(pid_t pid, bool mappings, struct resident *out) {
    static const char *const of_memory[] = {"Rss", "AnonHugePages", "Pss_Shmem", "Private_Hugetlb"};
    static const char *const of_status[] = {"VmPTE"};
    uint64_t *const bytes[] = {&out->rss, &out->huge, &out->shared, &out->hugetlb};
    uint64_t *const tables[] = {&out->page_tables};
    *out = (struct resident){0};
    int rc = read_amounts(pid, "smaps_rollup", 4, of_memory, bytes);
    if (rc == 0)
        rc = read_amounts(pid, "status", 1, of_status, tables);
    if (mappings)
        out->mappings = count_lines(pid, "maps");
    return rc == 0 && out->rss == 0 ? -ESRCH : rc;
}

bool has_flag(const void *place, const char *flag) {
    char line[512];
    unsigned long start, end;
    bool here = false, has = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    while (f && !has && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            here = start <= (uintptr_t)place && (uintptr_t)place < end;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            has = strstr(line + 8, flag);
    }
    if (f)
        fclose(f);
    return has;
}

static bool is_about(uint64_t found, uint64_t asked) {
    return found >= asked && found <= asked + own_memory;
}

/* What a kind of page shows beside its amount. */
static bool is_kind(uint64_t pages, uint64_t rss, const struct resident *found) {
    switch (pages) {
    case PAGES_THP:
        return is_about(found->huge, rss);
    case PAGES_SHARED:
        return is_about(found->shared, rss);
    case PAGES_SIMULATED: /* 8 bytes for each page of it */
        return found->page_tables >= rss / 512;
    default:
        return true;
    }
}

const char *ballast_verify(const struct ballast *ballast, const struct resident *found,
                           char *buffer, size_t size) {
    uint64_t mappings = ballast_mappings(ballast);
    uint64_t beside = ballast->pages == PAGES_HUGETLB ? found->hugetlb : 0;
    if (!is_about(found->rss + beside, ballast->rss))
        snprintf(buffer, size,
                 "the block has %" PRIu64 " MiB of resident memory, not %" PRIu64 " MiB",
                 (found->rss + beside) >> 20, ballast->rss >> 20);
    else if (found->huge != 0 && ballast->pages != PAGES_THP)
        snprintf(buffer, size, "%" PRIu64 " MiB of the block's memory are huge pages",
                 found->huge >> 20);
    else if (!is_kind(ballast->pages, ballast->rss, found))
        snprintf(buffer, size,
                 "the block's memory is not of the kind asked for: %" PRIu64 " MiB huge, %" PRIu64
                 " MiB shared, %" PRIu64 " MiB of page tables",
                 found->huge >> 20, found->shared >> 20, found->page_tables >> 20);
    else if (ballast->mappings &&
             (found->mappings < mappings || found->mappings > mappings + OWN_MAPPINGS))
        snprintf(buffer, size, "the block has %" PRIu64 " mappings, not %" PRIu64, found->mappings,
                 mappings);
    else
        return NULL;
    return buffer;
}
