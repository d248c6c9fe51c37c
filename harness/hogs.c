#include "hogs.h"

#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static const int64_t PATIENCE_NS = INT64_C(5000000000);

void hog_main(void) {
    for (;;)
        continue;
}

static int start(size_t cpu, forkless_child **hog) {
    cpu_set_t one;
    forkless_command *command;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    int rc = forkless_command_new(&command, "/proc/self/exe");
    if (rc < 0)
        return rc;
    forkless_command_arg(command, "--hog");
    forkless_command_file(command, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    forkless_command_file(command, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    forkless_command_group(command, 0);
    forkless_command_affinity(command, &one, sizeof one);
    forkless_command_death_signal(command, SIGKILL);
    rc = forkless_spawn(command, hog, NULL);
    forkless_command_free(command);
    return rc;
}

static int wait_until_it_runs(const forkless_child *hog) {
    const struct timespec pause = {.tv_nsec = 1000000};
    clockid_t clock;
    int64_t until = now_ns() + PATIENCE_NS, exec_ns = 0;
    int rc = -clock_getcpuclockid(forkless_pid(hog), &clock);
    if (rc == 0)
        exec_ns = clock_ns(clock);
    while (rc == 0 && clock_ns(clock) <= exec_ns) {
        nanosleep(&pause, NULL);
        rc = now_ns() > until ? -ETIMEDOUT : 0;
    }
    return rc;
}

int hogs_start(struct hogs *hogs, uint64_t load) {
    cpu_set_t cpus;
    int rc = 0;
    *hogs = (struct hogs){0};
    if (load == LOAD_IDLE)
        return 0;
    if (sched_getaffinity(0, sizeof cpus, &cpus) < 0)
        return -errno;
    bool skips = load == LOAD_OTHERS;
    hogs->list = calloc((size_t)CPU_COUNT(&cpus), sizeof(forkless_child *));
    if (!hogs->list)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && rc == 0; cpu++) {
        if (!CPU_ISSET(cpu, &cpus))
            continue;
        if (!skips)
            rc = start(cpu, &hogs->list[hogs->count]);
        hogs->count += !skips && rc == 0;
        skips = false;
    }
    for (size_t i = 0; i < hogs->count && rc == 0; i++)
        rc = wait_until_it_runs(hogs->list[i]);
    if (rc < 0)
        hogs_end(hogs);
    return rc;
}

bool hogs_run(struct hogs *hogs) {
    bool run = true;
    for (size_t i = 0; i < hogs->count && run; i++) {
        forkless_status status;
        run = forkless_wait(hogs->list[i], now_ns(), &status, NULL) == -ETIMEDOUT;
    }
    return run;
}

void hogs_end(struct hogs *hogs) {
    for (size_t i = 0; i < hogs->count; i++) {
        forkless_status status;
        forkless_kill(hogs->list[i], SIGKILL, FORKLESS_CHILD);
        forkless_wait(hogs->list[i], FORKLESS_NEVER, &status, NULL);
        forkless_child_free(hogs->list[i]);
    }
    free(hogs->list);
    *hogs = (struct hogs){0};
}
