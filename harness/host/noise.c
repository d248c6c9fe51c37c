#include <time.h>
#include <unistd.h>

#include "files.h"
#include "finding.h"

static const long SAMPLE_NS = 300000000;
/* Shares; a tick is 2 % of the sample of two CPUs: less cannot be told from nothing. */
static const double STEAL_MUCH = 0.02, STEAL_EVER = 0.01;
/* CPUs; from OTHERS_MUCH on a block counts as disturbed. */
static const double OTHERS_SOME = 0.07, OTHERS_MUCH = 0.1;

static struct cpu_time before, after;

void noise_sample(void) {
    before = cpu_time_read();
    nanosleep(&(struct timespec){.tv_nsec = SAMPLE_NS}, NULL);
    after = cpu_time_read();
}

void judge_steal(struct finding *f, double share, double since_boot) {
    static const char effect[] =
        "the hypervisor gives the CPUs to others: slow samples, long tails";
    static const char next[] = "vmstat 1 10  # the column st; measure when it is 0";
    if (share < 0)
        find(f, UNKNOWN, effect, "vmstat 1 10  # the column st", "/proc/stat does not say");
    else if (share >= STEAL_MUCH || since_boot >= STEAL_EVER)
        find(f, share >= STEAL_MUCH ? WARNING : NOTE, effect, next,
             "%.0f %% of the CPU time now, %.1f %% since boot", share * 100, since_boot * 100);
    else
        find_good(f, "%.0f %% of the CPU time now, %.1f %% since boot", share * 100,
                  since_boot * 100);
}

void judge_others(struct finding *f, double cpus) {
    static const char effect[] = "children wait for a CPU: spawns take longer and vary more";
    static const char next[] = "top -o %CPU  # end or pause what stands at its top";
    if (cpus < 0)
        find(f, UNKNOWN, effect, "top -o %CPU", "/proc/stat does not say");
    else if (cpus >= OTHERS_SOME)
        find(f, cpus >= OTHERS_MUCH ? WARNING : NOTE, effect, next,
             "other programs keep %.2f of %ld CPUs busy", cpus, sysconf(_SC_NPROCESSORS_ONLN));
    else
        find_good(f, "other programs keep %.2f of %ld CPUs busy", cpus,
                  sysconf(_SC_NPROCESSORS_ONLN));
}

void examine_steal(struct finding *f) {
    static const struct cpu_time boot;
    bool known = after.all > before.all;
    judge_steal(f, known ? cpu_time_steal(before, after) : -1, cpu_time_steal(boot, after));
}

/* This process slept. */
void examine_others(struct finding *f) {
    double all = (double)(after.all - before.all), used = (double)(after.used - before.used);
    judge_others(f, all > 0 ? used / all * (double)sysconf(_SC_NPROCESSORS_ONLN) : -1);
}

void examine_load(struct finding *f) {
    static const char effect[] = "the CPUs are in use: children wait for one, spawns vary more";
    static const char next[] = "uptime  # measure when its first load average is near 0";
    double load, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    FILE *file = files_open("/proc/loadavg");
    bool known = file && fscanf(file, "%lf", &load) == 1 && load >= 0;
    if (file)
        fclose(file);
    if (!known)
        find(f, UNKNOWN, effect, "uptime", "/proc/loadavg does not say");
    else if (load > cpus / 2)
        find(f, load > cpus ? WARNING : NOTE, effect, next, "%.1f on %.0f CPU%s", load, cpus,
             cpus > 1 ? "s" : "");
    else
        find_good(f, "%.1f on %.0f CPU%s", load, cpus, cpus > 1 ? "s" : "");
}
