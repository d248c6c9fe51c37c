#include "memory.h"

#include <sys/resource.h>

#include "cgroup.h"
#include "files.h"

/* But for the limit of the address space. */
static uint64_t machine_available(void) {
    uint64_t least = UINT64_MAX, kib;
    struct cgroup c;
    if (files_count("/proc/meminfo", "MemAvailable", &kib))
        least = kib << 10;
    if (cgroup_read(&c) && c.memory < least)
        least = c.memory;
    return least;
}

uint64_t memory_available(void) {
    uint64_t least = machine_available();
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < least)
        least = space.rlim_cur;
    return least;
}

const char *memory_remedy(uint64_t need) {
    struct rlimit space;
    if (need > machine_available() || getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur >= need)
        return "";
    return space.rlim_max == RLIM_INFINITY ? ": ulimit -v unlimited"
                                           : ": sudo prlimit --pid $$ --as=unlimited";
}

uint64_t block_memory(uint64_t rss, unsigned copies) {
    /* 8 bytes for each page of 4 KiB, and as much again to be safe. */
    return rss + (copies + 1) * (rss / 256) + (UINT64_C(64) << 20);
}

uint64_t simulated_memory(uint64_t rss, unsigned copies) {
    uint64_t most = (uint64_t)SIMULATED_PARTS << 30, file = rss < most ? rss : most;
    return file + (copies + 1) * (rss / 512 + rss / 4096) + (UINT64_C(64) << 20);
}
