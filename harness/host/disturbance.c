#include "disturbance.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Shares of all CPU time. What an idle system does for itself stays below. */
static const double STEAL_MOST = 0.01, OTHER_MOST = 0.05;

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

struct activity activity_now(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return (struct activity){
        .cpus = cpu_time_read(),
        .own_seconds = seconds(self.ru_utime) + seconds(self.ru_stime) +
                       seconds(children.ru_utime) + seconds(children.ru_stime),
        .voluntary = (uint64_t)children.ru_nvcsw,
        .involuntary = (uint64_t)children.ru_nivcsw,
    };
}

struct disturbance disturbance_between(const struct activity *before,
                                       const struct activity *after) {
    struct disturbance d = {.steal = cpu_time_steal(before->cpus, after->cpus),
                            .voluntary = after->voluntary - before->voluntary,
                            .involuntary = after->involuntary - before->involuntary};
    double all = (double)(after->cpus.all - before->cpus.all);
    double used = (double)(after->cpus.used - before->cpus.used);
    double own = (after->own_seconds - before->own_seconds) * (double)sysconf(_SC_CLK_TCK);
    if (all > 0 && used > own)
        d.other = (used - own) / all;
    if (d.other > OTHER_MOST)
        snprintf(d.says, sizeof d.says, "other programs used %.0f %% of the CPU time",
                 100 * d.other);
    else if (d.steal > STEAL_MOST)
        snprintf(d.says, sizeof d.says, "the hypervisor took %.0f %% of the CPU time",
                 100 * d.steal);
    return d;
}
