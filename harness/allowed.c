#include "allowed.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "descriptors.h"
#include "files.h"

enum { OWN_PROCESSES = 16 };

static bool mappings_allowed(const struct cell *cell, char *why, size_t size) {
    uint64_t most, need = ballast_mappings(&cell->ballast) + OWN_MAPPINGS;
    if (need == OWN_MAPPINGS || !files_number("/proc/sys/vm/max_map_count", &most) || need <= most)
        return true;
    snprintf(why, size,
             "needs %" PRIu64 " mappings, and %" PRIu64
             " are allowed: sudo sysctl vm.max_map_count=%" PRIu64,
             need, most, need);
    return false;
}

static bool thp_allowed(char *why, size_t size) {
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    char line[64];
    bool there = files_line(path, line, sizeof line);
    if (there && !strstr(line, "[never]"))
        return true;
    if (there)
        snprintf(why, size, "huge pages are off: echo madvise | sudo tee %s", path);
    else
        snprintf(why, size, "this kernel has no transparent huge pages");
    return false;
}

static bool hugetlb_allowed(uint64_t bytes, char *why, size_t size) {
    uint64_t kib, free_pages = 0, need, all = 0;
    if (!files_count("/proc/meminfo", "Hugepagesize", &kib) || kib == 0) {
        snprintf(why, size, "this kernel has no huge pages to reserve");
        return false;
    }
    files_count("/proc/meminfo", "HugePages_Free", &free_pages);
    files_count("/proc/meminfo", "HugePages_Total", &all);
    need = (bytes >> 10) / kib;
    if (need <= free_pages)
        return true;
    snprintf(why, size,
             "needs %" PRIu64 " huge pages, and %" PRIu64
             " are reserved and free: sudo sysctl vm.nr_hugepages=%" PRIu64,
             need, free_pages, need + all - free_pages);
    return false;
}

static bool pages_allowed(const struct cell *cell, char *why, size_t size) {
    switch (cell->ballast.pages) {
    case PAGES_THP:
        return thp_allowed(why, size);
    case PAGES_HUGETLB:
        return hugetlb_allowed(cell->ballast.rss, why, size);
    default:
        return true;
    }
}

/* The children of a sample and the threads that are there meanwhile. Few of them are not asked
 * for: what is left of a group's number changes by the moment. */
static bool processes_allowed(const struct cell *cell, char *why, size_t size) {
    struct cgroup c;
    struct rlimit limit;
    uint64_t need = cell_children(cell) + cell->spawners + cell->threads;
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur < need) {
        snprintf(why, size,
                 "needs %" PRIu64 " processes, and this user's limit is %ju: ulimit -u %" PRIu64,
                 need, (uintmax_t)limit.rlim_cur, need + OWN_PROCESSES);
        return false;
    }
    if (need <= OWN_PROCESSES || !cgroup_read(&c) || c.pids >= need + OWN_PROCESSES)
        return true;
    snprintf(why, size,
             "needs %" PRIu64 " processes, and the control group leaves %" PRIu64
             ": cat /proc/self/cgroup  # the group whose pids.max to raise",
             need + OWN_PROCESSES, c.pids);
    return false;
}

/* For hogs on the others, or a victim that is away. */
static bool two_cpus_allowed(const struct cell *cell, char *why, size_t size) {
    cpu_set_t cpus;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    bool needs = cell->load == LOAD_OTHERS || cell->place == PLACE_AWAY;
    if (!needs || sched_getaffinity(0, sizeof cpus, &cpus) < 0 || CPU_COUNT(&cpus) > 1)
        return true;
    if (online > 1)
        snprintf(why, size, "needs a second CPU, and may use one: sudo taskset -pc 0-%ld $$",
                 online - 1);
    else
        snprintf(why, size, "needs a second CPU, and this host has one");
    return false;
}

bool cell_allowed(const struct cell *cell, char *why, size_t size) {
    return descriptors_allowed((unsigned)cell->fds + cell_descriptors(cell), why, size) &&
           pages_allowed(cell, why, size) && mappings_allowed(cell, why, size) &&
           processes_allowed(cell, why, size) && two_cpus_allowed(cell, why, size);
}
