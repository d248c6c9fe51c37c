#include "host.h"

#include <dirent.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "cgroup.h"
#include "files.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

bool host_virtual(void) {
    char flags[4096];
    return files_value("/proc/cpuinfo", "flags", flags, sizeof flags) &&
           strstr(flags, "hypervisor");
}

bool host_hypervisor(char *out, size_t size) {
    char vendor[13] = "";
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
        return false;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(vendor, (unsigned[]){b, c, d}, sizeof vendor - 1);
#endif
    for (char *at = vendor; *at; at++) /* some fill it up, or answer with whatever is there */
        if (*at < ' ' || *at > '~')
            *at = '\0';
    snprintf(out, size, "%s", vendor);
    return *vendor;
}

/* "always [madvise] never": the word in brackets. */
bool host_thp(char *out, size_t size) {
    char line[128];
    if (!files_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line)) {
        snprintf(out, size, "absent");
        return files_there("/sys/kernel/mm");
    }
    static const char *const modes[] = {"always", "madvise", "never"};
    char *word = strchr(line, '[');
    for (size_t i = 0; word && i < sizeof modes / sizeof *modes; i++) {
        size_t length = strlen(modes[i]);
        if (strncmp(word + 1, modes[i], length) != 0 || word[1 + length] != ']')
            continue;
        snprintf(out, size, "%s", modes[i]);
        return true;
    }
    return false;
}

bool host_overcommit(uint64_t *mode) {
    return files_number("/proc/sys/vm/overcommit_memory", mode) && *mode <= 2;
}

/* One for all CPUs, or "mixed". */
bool host_governor(char *out, size_t size) {
    char pattern[FILES_PATH], line[64];
    glob_t found;
    out[0] = '\0';
    if (!files_path(CPU_FOLDER "/cpu[0-9]*/cpufreq/scaling_governor", pattern, sizeof pattern) ||
        glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!files_line(found.gl_pathv[i] + strlen(files_root), line, sizeof line))
            continue;
        if (*out && strcmp(out, line) != 0)
            snprintf(line, sizeof line, "mixed");
        snprintf(out, size, "%s", line);
    }
    globfree(&found);
    return *out;
}

bool host_turbo(bool *on) {
    uint64_t n;
    if (files_number(CPU_FOLDER "/intel_pstate/no_turbo", &n) && n <= 1)
        *on = n == 0;
    else if (files_number(CPU_FOLDER "/cpufreq/boost", &n) && n <= 1)
        *on = n == 1;
    else
        return false;
    return true;
}

json_t *host_mitigations(void) {
    char folder[FILES_PATH], path[FILES_PATH], line[256];
    struct dirent **entries;
    json_t *all = json_object();
    if (!files_path(CPU_FOLDER "/vulnerabilities", folder, sizeof folder))
        return all;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, CPU_FOLDER "/vulnerabilities/%.255s", entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && files_line(path, line, sizeof line))
            json_object_set_new(all, entries[i]->d_name, json_string(line));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return all;
}

static json_t *limit(int resource) {
    struct rlimit value;
    if (getrlimit((__rlimit_resource_t)resource, &value) < 0 || value.rlim_cur == RLIM_INFINITY)
        return json_null();
    return json_integer((json_int_t)value.rlim_cur);
}

static json_t *limits(void) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "nofile", limit(RLIMIT_NOFILE), "nproc",
                     limit(RLIMIT_NPROC), "stack", limit(RLIMIT_STACK), "as", limit(RLIMIT_AS),
                     "memlock", limit(RLIMIT_MEMLOCK));
}

static json_t *left(uint64_t count) {
    return count == CGROUP_UNLIMITED ? json_null() : json_integer((json_int_t)count);
}

static void set_number(json_t *host, const char *key, uint64_t value) {
    json_object_set_new(host, key, json_integer((json_int_t)value));
}

/* No file of the kernel's holds anything but ASCII; garbage is left out. */
static void set_text(json_t *host, const char *key, const char *value) {
    json_object_set_new(host, key, json_string(value));
}

static void add_cgroup(json_t *host) {
    struct cgroup c;
    if (!cgroup_read(&c))
        return;
    json_t *cpus = c.cpus > 0 ? json_real(c.cpus) : json_null();
    json_object_set_new(host, "cgroup",
                        json_pack("{s:i,s:o,s:o,s:o}", "version", c.version, "memory",
                                  left(c.memory), "cpus", cpus, "pids", left(c.pids)));
}

/* What decides how dear a spawn is, beside the CPU and the kernel. */
static void add_settings(json_t *host) {
    char text[256];
    uint64_t number;
    bool turbo;
    if (host_hypervisor(text, sizeof text))
        set_text(host, "hypervisor", text);
    json_object_set_new(host, "mitigations", host_mitigations());
    if (host_thp(text, sizeof text))
        set_text(host, "thp", text);
    if (host_overcommit(&number))
        set_number(host, "overcommit", number);
    if (files_count("/proc/meminfo", "SwapTotal", &number))
        set_number(host, "swap", number << 10);
    if (files_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                   sizeof text))
        set_text(host, "clocksource", text);
    if (host_governor(text, sizeof text))
        set_text(host, "governor", text);
    if (host_turbo(&turbo))
        json_object_set_new(host, "turbo", json_boolean(turbo));
    json_object_set_new(host, "limits", limits());
    add_cgroup(host);
}

/* That this process may use. */
static json_int_t count_cpus(void) {
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);
}

json_t *host_describe(void) {
    char cpu[256], libc[64];
    struct utsname kernel;
    if (!files_value("/proc/cpuinfo", "model name", cpu, sizeof cpu))
        cpu[0] = '\0';
    uname(&kernel);
    snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
    long page = sysconf(_SC_PAGESIZE);
    json_t *host = json_pack("{s:s,s:I,s:b,s:s,s:s,s:I,s:I}", "cpu", cpu[0] ? cpu : kernel.machine,
                             "cpus", count_cpus(), "virtual", host_virtual(), "kernel",
                             kernel.release, "libc", libc, "page_size", (json_int_t)page, "memory",
                             (json_int_t)sysconf(_SC_PHYS_PAGES) * page);
    add_settings(host);
    return host;
}

/* user nice system idle iowait irq softirq steal */
struct cpu_time cpu_time_read(void) {
    enum { IDLE = 3, IOWAIT = 4, STEAL = 7, KINDS = 8 };
    char line[256];
    struct cpu_time time = {0};
    if (!files_value("/proc/stat", "cpu", line, sizeof line))
        return time;
    const char *at = line;
    for (int i = 0; i < KINDS; i++) {
        uint64_t ticks;
        if (!text_number(at, &ticks))
            break;
        time.all += ticks;
        time.stolen += i == STEAL ? ticks : 0;
        time.used += i == IDLE || i == IOWAIT || i == STEAL ? 0 : ticks;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return time;
}

double cpu_time_steal(struct cpu_time before, struct cpu_time after) {
    uint64_t all = after.all - before.all;
    return all ? (double)(after.stolen - before.stolen) / (double)all : 0;
}

double load_average(void) {
    double load[1] = {0};
    return getloadavg(load, 1) == 1 ? load[0] : 0;
}
