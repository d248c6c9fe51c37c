#include "disturbance.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Shares of all CPU time. What an idle system does for itself stays below. */
static const double STEAL_MOST = 0.01, OTHER_MOST = 0.05;

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

struct activity activity_now(void) {
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, KINDS };
    uint64_t t[KINDS] = {0};
    struct activity now = {0};
    FILE *f = fopen("/proc/stat", "re");
    if (f && fscanf(f, "cpu") == 0)
        for (int i = 0; i < KINDS && fscanf(f, "%" SCNu64, &t[i]) == 1; i++)
            now.all_ticks += t[i];
    if (f)
        fclose(f);
    now.stolen_ticks = t[STEAL];
    now.busy_ticks = t[USER] + t[NICE] + t[SYSTEM] + t[IRQ] + t[SOFTIRQ];

    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    now.own_seconds = seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
                      seconds(children.ru_stime);
    now.voluntary = (uint64_t)children.ru_nvcsw;
    now.involuntary = (uint64_t)children.ru_nivcsw;
    return now;
}

struct disturbance disturbance_between(const struct activity *before,
                                       const struct activity *after) {
    struct disturbance d = {.voluntary = after->voluntary - before->voluntary,
                            .involuntary = after->involuntary - before->involuntary};
    double all = (double)(after->all_ticks - before->all_ticks);
    double busy = (double)(after->busy_ticks - before->busy_ticks);
    double own = (after->own_seconds - before->own_seconds) * (double)sysconf(_SC_CLK_TCK);
    if (all > 0) {
        d.steal = (double)(after->stolen_ticks - before->stolen_ticks) / all;
        d.other = busy > own ? (busy - own) / all : 0;
    }
    if (d.other > OTHER_MOST)
        snprintf(d.says, sizeof d.says, "other programs used %.0f %% of the CPU time",
                 100 * d.other);
    else if (d.steal > STEAL_MOST)
        snprintf(d.says, sizeof d.says, "the hypervisor took %.0f %% of the CPU time",
                 100 * d.steal);
    return d;
}
