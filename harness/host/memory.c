#include "memory.h"

#include "cgroup.h"
#include "files.h"

uint64_t memory_available(void) {
    uint64_t kib;
    struct cgroup c;
    uint64_t least = files_count("/proc/meminfo", "MemAvailable", &kib) ? kib << 10 : 0;
    return cgroup_read(&c) && c.memory < least ? c.memory : least;
}

uint64_t block_memory(uint64_t rss) {
    return rss + rss / 128 + (UINT64_C(64) << 20);
}
