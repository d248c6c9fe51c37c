#include "after.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ballast.h"
#include "clock.h"
#include "files.h"
#include "targets/target.h"

enum { LOOK_MS = 20 };

int after_prepare(struct after *a) {
    a->input[0] = a->input[1] = -1;
    a->saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (a->saved >= 0 && pipe2(a->input, O_CLOEXEC) == 0 && dup2(a->input[0], STDIN_FILENO) == 0)
        return 0;
    int rc = -errno;
    after_cleanup(a);
    return rc;
}

void after_cleanup(struct after *a) {
    if (a->saved >= 0) {
        dup2(a->saved, STDIN_FILENO);
        close(a->saved);
    }
    for (int i = 0; i < 2; i++)
        if (a->input[i] >= 0)
            close(a->input[i]);
}

static struct rusage usage_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static void look_at_switches(struct after *a, bool counts) {
    struct rusage usage = usage_now();
    if (counts) {
        a->found.switches += usage.ru_nvcsw - a->slept;
        a->found.preemptions += usage.ru_nivcsw - a->waited;
    }
    a->slept = usage.ru_nvcsw;
    a->waited = usage.ru_nivcsw;
}

static void write_all(struct after *a) {
    const struct timespec moment = {.tv_nsec = 1};
    /* After a fork the stack is to be copied too, and the thread's own page, where the kernel
     * writes after a switch (rseq). Nothing else is written below. */
    nanosleep(&moment, NULL);
    usage_now();
    int64_t faults = usage_now().ru_minflt, began = now_ns();
    ballast_rewrite();
    int64_t ended = now_ns();
    faults = usage_now().ru_minflt - faults;
    a->found.time = ended - began;
    a->found.faults = faults;
}

/* Adds a number of KiB that the kernel says of a process; pid 0: this one. */
static bool add_bytes(pid_t pid, const char *file, const char *key, int64_t *bytes) {
    char path[64];
    uint64_t kib;
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    else
        snprintf(path, sizeof path, "/proc/self/%s", file);
    if (!files_count(path, key, &kib))
        return false;
    *bytes += (int64_t)(kib << 10);
    return true;
}

/* Half a sum is none. */
static int64_t bytes_of_both(struct after *a, const char *file, const char *key) {
    int64_t bytes = 0;
    if (!add_bytes(0, file, key, &bytes) || (a->child && !add_bytes(a->child, file, key, &bytes)))
        a->problem = "the memory of parent and child could not be read";
    return bytes;
}

static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | (int)__WALL) < 0 ||
           info.si_pid != 0;
}

/* Until it has exec'd, or does not mean to, or has failed to. */
static void wait_for_life(const struct after *a) {
    struct pollfd stamps = {.fd = a->stamps, .events = POLLIN};
    while (poll(&stamps, 1, LOOK_MS) <= 0 && !has_ended(a->child))
        continue;
}

static void between(void *argument) {
    struct after *a = argument;
    const struct turn *turn = a->turn;
    look_at_switches(a, true);
    if (turn->want > 0)
        a->child = turn->strategy->pid ? turn->strategy->pid(turn->born) : turn->born->pid;
    if (a->child)
        wait_for_life(a);
    if (a->is_living) {
        a->found.page_tables = bytes_of_both(a, "status", "VmPTE");
        write_all(a);
        a->found.peak = bytes_of_both(a, "smaps_rollup", "Pss");
    }
    if (a->child && has_ended(a->child))
        a->problem = "the child ended before it was told to";
    while (a->child && write(a->input[1], "", 1) < 0 && errno == EINTR)
        continue;
    look_at_switches(a, false);
}

void after_begin(struct after *a, struct turn *turn) {
    a->child = 0;
    a->problem = NULL;
    a->turn = turn;
    a->found = (struct aftermath){0};
    turn->between = between;
    turn->argument = a;
    look_at_switches(a, false);
}

struct aftermath after_end(struct after *a, struct turn *turn) {
    target_stamp last;
    if (a->problem)
        turn_fail(turn, 0, "%s", a->problem);
    look_at_switches(a, true);
    if (!a->is_living)
        write_all(a);
    if (a->child && read(a->stamps, &last, sizeof last) == sizeof last)
        a->found.teardown = turn->reaped - (int64_t)last;
    return a->found;
}
