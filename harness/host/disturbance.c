#include "disturbance.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* In CPUs. What an idle system does for itself stays below. */
static const double STEAL_MOST = 0.02, OTHER_MOST = 0.1;
/* Fewer ticks of the clock are not enough to tell. */
static const double STEAL_TICKS = 5, OTHER_TICKS = 10;

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

static bool is_much(double ticks, double least, double cpus, double most) {
    return ticks >= least && cpus > most;
}

struct disturbance disturbance_between(const struct activity *before,
                                       const struct activity *after) {
    struct disturbance d = {.steal = cpu_time_steal(before->cpus, after->cpus),
                            .voluntary = after->voluntary - before->voluntary,
                            .involuntary = after->involuntary - before->involuntary};
    double ticks = (double)sysconf(_SC_CLK_TCK), cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double all = (double)(after->cpus.all - before->cpus.all);
    double used = (double)(after->cpus.used - before->cpus.used);
    double own = (after->own_seconds - before->own_seconds) * ticks;
    if (all > 0 && used > own)
        d.other = (used - own) / all;
    if (is_much(d.other * all, OTHER_TICKS, d.other * cpus, OTHER_MOST))
        snprintf(d.says, sizeof d.says, "other programs used %.2f of %.0f CPUs", d.other * cpus,
                 cpus);
    else if (is_much(d.steal * all, STEAL_TICKS, d.steal * cpus, STEAL_MOST))
        snprintf(d.says, sizeof d.says, "the hypervisor took %.2f of %.0f CPUs", d.steal * cpus,
                 cpus);
    return d;
}
