#include "allowed.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "descriptors.h"
#include "files.h"
#include "host.h"
#include "paths.h"

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
    uint64_t kib, free_pages = 0, reserved = 0, need, all = 0;
    if (!files_count("/proc/meminfo", "Hugepagesize", &kib) || kib == 0) {
        snprintf(why, size, "this kernel has no huge pages to reserve");
        return false;
    }
    files_count("/proc/meminfo", "HugePages_Free", &free_pages);
    files_count("/proc/meminfo", "HugePages_Rsvd", &reserved); /* promised to others, free still */
    files_count("/proc/meminfo", "HugePages_Total", &all);
    free_pages -= reserved < free_pages ? reserved : free_pages;
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

/* Of this user, as the limit counts: each thread is one. When it was looked at first. */
static uint64_t count_own_processes(void) {
    static uint64_t count;
    struct dirent *entry;
    DIR *d = count ? NULL : opendir("/proc");
    while (d && (entry = readdir(d))) {
        char path[64];
        uint64_t uid, threads;
        snprintf(path, sizeof path, "/proc/%.20s/status", entry->d_name);
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && files_count(path, "Uid", &uid) &&
            uid == getuid() && files_count(path, "Threads", &threads))
            count += threads;
    }
    if (d)
        closedir(d);
    return count;
}

static bool user_allowed(uint64_t need, char *why, size_t size) {
    struct rlimit limit;
    if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    uint64_t spare = need <= OWN_PROCESSES ? 0 : OWN_PROCESSES;
    uint64_t used = count_own_processes(), all = used + need + spare;
    if (all <= limit.rlim_cur)
        return true;
    snprintf(why, size,
             "needs %" PRIu64 " processes, and this user's limit of %ju leaves %ju: %s%" PRIu64,
             need + spare, (uintmax_t)limit.rlim_cur,
             (uintmax_t)(limit.rlim_cur > used ? limit.rlim_cur - used : 0),
             limit.rlim_max >= all ? "ulimit -u " : "sudo prlimit --pid $$ --nproc=", all);
    return false;
}

/* Few of them are not asked for: what is left of a group's number changes by the moment. */
static bool processes_allowed(const struct cell *cell, char *why, size_t size) {
    struct cgroup c;
    uint64_t need = cell_processes(cell);
    if (!user_allowed(need, why, size))
        return false;
    if (need <= OWN_PROCESSES || !cgroup_read(&c) || c.pids >= need + OWN_PROCESSES)
        return true;
    snprintf(why, size,
             "needs %" PRIu64 " processes, and the control group leaves %" PRIu64 ": echo %" PRIu64
             " | sudo tee %s/pids.max",
             need + OWN_PROCESSES, c.pids, c.pids_used + need + OWN_PROCESSES, c.pids_folder);
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

static bool victim_allowed(const struct cell *cell, char *why, size_t size) {
    static const char path[] = "/proc/self/schedstat";
    if (!cell->victim || files_there(path))
        return true;
    snprintf(why, size, "needs %s: the kernel has to be built with CONFIG_SCHED_INFO", path);
    return false;
}

static bool attribute_allowed(const struct cell *cell, char *why, size_t size) {
    const char *lack = cell->attribute->lacks ? cell->attribute->lacks() : NULL;
    if (lack)
        snprintf(why, size, "%s", lack);
    return !lack;
}

/* Whether its kernel has all that the tracer needs it says itself. */
static bool tracer_allowed(const struct cell *cell, char *why, size_t size) {
    char path[FILES_PATH];
    const char *name = cell->ballast.traced == TRACED_PHASES ? "phases" : "trace";
    if (cell->ballast.traced == TRACED_NO)
        return true;
    if (path_program(name, path, sizeof path) && access(path, X_OK) < 0)
        snprintf(why, size, "needs forkless-%s, which this build does not have", name);
    else if (!host_may_trace())
        snprintf(why, size, "needs CAP_BPF and CAP_PERFMON: run it as root");
    else
        return true;
    return false;
}

bool cell_allowed(const struct cell *cell, char *why, size_t size) {
    return descriptors_allowed((unsigned)cell->fds + cell_descriptors(cell), why, size) &&
           pages_allowed(cell, why, size) && mappings_allowed(cell, why, size) &&
           processes_allowed(cell, why, size) && two_cpus_allowed(cell, why, size) &&
           victim_allowed(cell, why, size) && attribute_allowed(cell, why, size) &&
           tracer_allowed(cell, why, size);
}
