#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* One file of a group; `folder` is the group's. */
static bool number_in(const char *folder, const char *name, uint64_t *out) {
    char path[FILES_PATH];
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path &&
           files_number(path, out); /* "max" is no number, and no limit */
}

static bool count_in(const char *folder, const char *name, const char *key, uint64_t *out) {
    char path[FILES_PATH];
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path &&
           files_count(path, key, out);
}

static void lower(uint64_t *least, uint64_t limit, uint64_t used) {
    uint64_t left = limit > used ? limit - used : 0;
    if (left < *least)
        *least = left;
}

/* Version 1 writes "no limit" as a number that no machine has. */
static const uint64_t MOST_MEMORY = UINT64_C(1) << 60;

/* Cached files are given back when memory is wanted. */
static void look_at_memory(const char *folder, const char *limit_file, const char *usage_file,
                           const char *cache_key, struct cgroup *c) {
    uint64_t limit, usage, cache;
    if (!number_in(folder, limit_file, &limit) || limit > MOST_MEMORY ||
        !number_in(folder, usage_file, &usage))
        return;
    if (count_in(folder, "memory.stat", cache_key, &cache) && cache < usage)
        usage -= cache;
    lower(&c->memory, limit, usage);
}

static void look_at_memory_1(const char *folder, struct cgroup *c) {
    look_at_memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                   c);
}

static void look_at_memory_2(const char *folder, struct cgroup *c) {
    look_at_memory(folder, "memory.max", "memory.current", "inactive_file", c);
}

static void look_at_quota(const char *folder, uint64_t quota, uint64_t period, struct cgroup *c) {
    double cpus = period ? (double)quota / (double)period : 0;
    if (cpus <= 0 || (c->cpus > 0 && cpus >= c->cpus))
        return;
    c->cpus = cpus;
    c->periods = c->throttled = 0;
    if (!count_in(folder, "cpu.stat", "nr_periods", &c->periods) ||
        !count_in(folder, "cpu.stat", "nr_throttled", &c->throttled))
        c->periods = c->throttled = 0;
}

static void look_at_cpu_1(const char *folder, struct cgroup *c) {
    uint64_t quota, period; /* "-1" is no number, and no quota */
    if (number_in(folder, "cpu.cfs_quota_us", &quota) &&
        number_in(folder, "cpu.cfs_period_us", &period))
        look_at_quota(folder, quota, period, c);
}

static void look_at_cpu_2(const char *folder, struct cgroup *c) {
    char path[FILES_PATH], line[64];
    uint64_t quota, period;
    if ((size_t)snprintf(path, sizeof path, "%s/cpu.max", folder) >= sizeof path ||
        !files_line(path, line, sizeof line) || !text_number(line, &quota))
        return;
    const char *behind = strchr(line, ' ');
    if (behind && text_number(behind + 1, &period))
        look_at_quota(folder, quota, period, c);
}

static void look_at_pids(const char *folder, struct cgroup *c) {
    uint64_t limit, used;
    uint64_t before = c->pids;
    if (!number_in(folder, "pids.max", &limit) || !number_in(folder, "pids.current", &used))
        return;
    lower(&c->pids, limit, used);
    if (c->pids == before)
        return;
    c->pids_used = used;
    snprintf(c->pids_folder, sizeof c->pids_folder, "%s", folder);
}

typedef void look(const char *folder, struct cgroup *);

/* The group and all above it. In a container the upper ones may be out of sight. */
static void upwards(const char *root, const char *group, look *at, struct cgroup *c) {
    char folder[FILES_PATH];
    if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, group) >= sizeof folder)
        return;
    for (;;) {
        at(folder, c);
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(root) || !slash)
            return;
        *slash = '\0';
    }
}

/* Hierarchies of version 1: one or several controllers each, "cpu,cpuacct". */
static void look_1(char *controllers, const char *group, struct cgroup *c) {
    static const struct {
        const char *name, *root;
        look *at;
    } known[] = {{"memory", "/sys/fs/cgroup/memory", look_at_memory_1},
                 {"cpu", "/sys/fs/cgroup/cpu", look_at_cpu_1},
                 {"pids", "/sys/fs/cgroup/pids", look_at_pids}};
    char *rest = controllers;
    for (char *name; (name = strsep(&rest, ","));)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(name, known[i].name) == 0)
                upwards(known[i].root, group, known[i].at, c);
}

static void look_2(const char *root, const char *group, struct cgroup *c) {
    upwards(root, group, look_at_memory_2, c);
    upwards(root, group, look_at_cpu_2, c);
    upwards(root, group, look_at_pids, c);
}

bool cgroup_read(struct cgroup *c) {
    char *line = NULL, unified[FILES_PATH] = "";
    size_t room = 0;
    FILE *f = files_open("/proc/self/cgroup");
    *c = (struct cgroup){.version = 2, .memory = CGROUP_UNLIMITED, .pids = CGROUP_UNLIMITED};
    if (!f)
        return false;
    while (getline(&line, &room, f) > 0) { /* NUMBER:CONTROLLERS:GROUP */
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        strsep(&rest, ":");
        char *controllers = strsep(&rest, ":");
        if (!rest)
            continue;
        if (!*controllers) {
            snprintf(unified, sizeof unified, "%s", rest);
            continue;
        }
        c->version = 1;
        look_1(controllers, rest, c);
    }
    free(line);
    fclose(f);
    if (*unified)
        look_2(c->version == 2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified", unified, c);
    return *unified || c->version == 1;
}
