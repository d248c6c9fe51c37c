#include "ballast.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A block without ballast has less than this, with the harness, its libraries and its samples. */
static const uint64_t own_memory = 48 << 20;

int ballast_make(const struct ballast *ballast) {
    uint64_t bytes = ballast->rss;
    if (bytes == 0)
        return 0;
    char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return -errno;
    /* ENOSYS and EINVAL: no such kernel option, so no huge pages to avoid. */
    madvise(start, bytes, MADV_NOHUGEPAGE);
    if (madvise(start, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    for (uint64_t at = 0; at < bytes; at += 4096) /* before Linux 5.14 */
        ((volatile char *)start)[at] = 1;
    return 0;
}

int resident_of(pid_t pid, struct resident *out) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return -errno;
    uint64_t kib;
    *out = (struct resident){0};
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "Rss: %" SCNu64, &kib) == 1)
            out->rss = kib << 10;
        else if (sscanf(line, "AnonHugePages: %" SCNu64, &kib) == 1)
            out->huge = kib << 10;
    }
    fclose(f);
    return out->rss ? 0 : -ESRCH;
}

const char *ballast_verify(const struct ballast *ballast, const struct resident *found,
                           char *buffer, size_t size) {
    uint64_t bytes = ballast->rss;
    if (found->rss < bytes || found->rss > bytes + own_memory) {
        snprintf(buffer, size,
                 "the block has %" PRIu64 " MiB of resident memory, not %" PRIu64 " MiB",
                 found->rss >> 20, bytes >> 20);
        return buffer;
    }
    if (found->huge != 0) {
        snprintf(buffer, size, "%" PRIu64 " MiB of the block's memory are huge pages",
                 found->huge >> 20);
        return buffer;
    }
    return NULL;
}
