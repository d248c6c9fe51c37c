#include "memory.h"

#include <sys/resource.h>

#include "cgroup.h"
#include "files.h"

uint64_t memory_available(void) {
    uint64_t least = UINT64_MAX, kib;
    struct cgroup c;
    struct rlimit space;
    if (files_count("/proc/meminfo", "MemAvailable", &kib))
        least = kib << 10;
    if (cgroup_read(&c) && c.memory < least)
        least = c.memory;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < least)
        least = space.rlim_cur;
    return least;
}

uint64_t block_memory(uint64_t rss, unsigned copies) {
    /* 8 bytes for each page of 4 KiB, and as much again to be safe. */
    return rss + (copies + 1) * (rss / 256) + (UINT64_C(64) << 20);
}

uint64_t simulated_memory(uint64_t rss, unsigned copies) {
    return (UINT64_C(1) << 30) + (copies + 1) * (rss / 512 + rss / 4096) + (UINT64_C(64) << 20);
}
