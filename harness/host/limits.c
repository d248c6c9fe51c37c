#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files.h"
#include "finding.h"
#include "memory.h"

#define GIB(bytes) ((double)(bytes) / (1 << 30))

/* The largest parent of the quick matrix. */
static const uint64_t LARGEST = UINT64_C(4) << 30;

static const char group_next[] = "cat /proc/self/cgroup  # the group whose limit to raise";

void examine_memory(struct finding *f) {
    static const char effect[] =
        "the largest parents of the matrix do not fit: cells `unsupported`";
    uint64_t there = memory_available(), need = block_memory(LARGEST, 1);
    struct cgroup c;
    bool grouped = cgroup_read(&c) && c.memory == there;
    if (there == UINT64_MAX)
        find(f, UNKNOWN, effect, "free -m", "/proc/meminfo does not say");
    else if (there < need)
        find(f, WARNING, effect, grouped ? group_next : "ps -eo rss,comm --sort=-rss",
             "%.1f GiB %s, %.1f GiB needed", GIB(there),
             grouped ? "left by the control group" : "available", GIB(need));
    else
        find_good(f, "%.1f GiB available, %.1f GiB needed", GIB(there), GIB(need));
}

/* "20000 descriptors", "unlimited descriptors", or in MiB. */
static void print_limit(rlim_t limit, bool mib, const char *what, char *out, size_t size) {
    if (limit == RLIM_INFINITY)
        snprintf(out, size, "unlimited %s", what);
    else
        snprintf(out, size, "%ju%s %s", (uintmax_t)(mib ? limit >> 20 : limit), mib ? " MiB" : "",
                 what);
}

static rlim_t soft(__rlimit_resource_t resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

static const struct too {
    __rlimit_resource_t resource;
    rlim_t low, high; /* what lies outside is worth a word */
    enum level level;
    const char *effect, *next;
} odd[] = {
    {RLIMIT_AS, RLIM_INFINITY, RLIM_INFINITY, WARNING,
     "parents that need more address space cannot be made: cells `unsupported`",
     "ulimit -v unlimited"},
    {RLIMIT_NPROC, 256, RLIM_INFINITY, WARNING,
     "spawns fail with EAGAIN when this user has that many threads",
     "ulimit -Hu  # up to here ulimit -u N can raise it"},
    {RLIMIT_NOFILE, 256, RLIM_INFINITY, NOTE, "a burst of children runs out of descriptors",
     "ulimit -n $(ulimit -Hn)"},
    {RLIMIT_NOFILE, 0, 1 << 20, NOTE,
     "programs that close all possible descriptors one by one spawn very slowly",
     "ulimit -Sn 65536"},
    {RLIMIT_STACK, 1 << 20, RLIM_INFINITY, NOTE,
     "exec fails with E2BIG when arguments and environment exceed a quarter of it",
     "ulimit -s 8192"},
};

void examine_limits(struct finding *f) {
    char files[64], processes[64], stack[64], space[64];
    print_limit(soft(RLIMIT_NOFILE), false, "descriptors", files, sizeof files);
    print_limit(soft(RLIMIT_NPROC), false, "threads", processes, sizeof processes);
    print_limit(soft(RLIMIT_STACK), true, "stack", stack, sizeof stack);
    print_limit(soft(RLIMIT_AS), true, "address space", space, sizeof space);
    find_good(f, "%s, %s, %s, %s", files, processes, stack, space);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        rlim_t limit = soft(odd[i].resource);
        if (limit >= odd[i].low && (limit <= odd[i].high || odd[i].high == RLIM_INFINITY))
            continue;
        f->level = odd[i].level;
        f->effect = odd[i].effect;
        f->next = odd[i].next;
        return;
    }
}

void judge_quota(struct finding *f, const struct cgroup *c, unsigned cpus) {
    static const char effect[] =
        "once it is used up all threads stand still, often for tens of milliseconds";
    double often = c->periods ? 100.0 * (double)c->throttled / (double)c->periods : 0;
    if (c->cpus <= 0)
        find_good(f, "none");
    else if (c->cpus < cpus || c->throttled > 0)
        find(f, WARNING, effect, group_next, "%.3g of %u CPUs, used up in %.0f %% of all periods",
             c->cpus, cpus, often);
    else
        find_good(f, "%.3g CPUs, never used up", c->cpus);
}

void examine_quota(struct finding *f) {
    struct cgroup c;
    if (cgroup_read(&c))
        judge_quota(f, &c, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    else
        find(f, UNKNOWN, "a quota that is used up stops all threads", "cat /proc/self/cgroup",
             "/proc/self/cgroup does not say");
}

void examine_pids(struct finding *f) {
    enum { FEW = 64 };
    static const char effect[] = "spawns fail with EAGAIN when none is left";
    struct cgroup c;
    if (!cgroup_read(&c))
        find(f, UNKNOWN, effect, "cat /proc/self/cgroup", "/proc/self/cgroup does not say");
    else if (c.pids == CGROUP_UNLIMITED)
        find_good(f, "no limit of a control group");
    else if (c.pids < FEW)
        find(f, WARNING, effect, group_next, "the control group allows %" PRIu64 " more threads",
             c.pids);
    else
        find_good(f, "the control group allows %" PRIu64 " more threads", c.pids);
}
