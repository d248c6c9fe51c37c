/* Limits and scheduling. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>

#include "command.h"

enum {
    IO_PRIORITY_OF_A_PROCESS = 1, /* IOPRIO_WHO_PROCESS */
    IO_CLASS_SHIFT = 13,
    IO_CLASS_IDLE = 3,
    IO_LEVELS = 8,
    REAL_TIME_MAX = 99
};

int forkless_command_rlimit(forkless_command *c, int resource, const struct rlimit *limit) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!limit || resource < 0 || resource >= (int)RLIM_NLIMITS ||
        limit->rlim_cur > limit->rlim_max)
        return fl_set_end(c, __func__, resource, -EINVAL);
    const struct rlimit *copy = fl_copy(c, limit, sizeof *limit);
    const struct fl_call call = {
        .step = FORKLESS_STEP_RLIMIT,
        .number = SYS_prlimit64,
        .index = resource,
        .arguments = {0, resource, (long)copy, 0},
    };
    return fl_set_end(c, __func__, resource, copy ? fl_put(c, &call) : -ENOMEM);
}

int forkless_command_nice(forkless_command *c, int nice) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_NICE,
        .number = SYS_setpriority,
        .index = -1,
        .arguments = {PRIO_PROCESS, 0, nice},
    };
    bool valid = nice >= -20 && nice <= 19;
    return fl_set_end(c, __func__, -1, valid ? fl_put_only(c, &call) : -EINVAL);
}

static bool has_priority(int policy, int priority) {
    switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
    case SCHED_BATCH:
    case SCHED_IDLE:
        return priority == 0;
    case SCHED_FIFO:
    case SCHED_RR:
        return priority >= 1 && priority <= REAL_TIME_MAX;
    }
    return false;
}

int forkless_command_scheduler(forkless_command *c, int policy, int priority) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!has_priority(policy, priority))
        return fl_set_end(c, __func__, policy, -EINVAL);
    const int *copy = fl_copy(c, &priority, sizeof priority); /* struct sched_param */
    const struct fl_call call = {
        .step = FORKLESS_STEP_SCHEDULER,
        .number = SYS_sched_setscheduler,
        .index = policy,
        .arguments = {0, policy, (long)copy},
    };
    return fl_set_end(c, __func__, policy, copy ? fl_put_only(c, &call) : -ENOMEM);
}

int forkless_command_affinity(forkless_command *c, const void *cpus, size_t size) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const unsigned char *bytes = cpus;
    bool any = false;
    for (size_t i = 0; cpus && i < size; i++)
        any |= bytes[i] != 0;
    if (!any || size > INT_MAX)
        return fl_set_end(c, __func__, -1, -EINVAL);
    const void *copy = fl_copy(c, cpus, size);
    const struct fl_call call = {
        .step = FORKLESS_STEP_AFFINITY,
        .number = SYS_sched_setaffinity,
        .index = -1,
        .arguments = {0, (long)size, (long)copy},
    };
    return fl_set_end(c, __func__, -1, copy ? fl_put_only(c, &call) : -ENOMEM);
}

int forkless_command_io_priority(forkless_command *c, int io_class, int level) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_IO_PRIORITY,
        .number = SYS_ioprio_set,
        .index = -1,
        .arguments = {IO_PRIORITY_OF_A_PROCESS, 0, (long)io_class * (1 << IO_CLASS_SHIFT) + level},
    };
    bool valid = io_class >= 0 && io_class <= IO_CLASS_IDLE && level >= 0 && level < IO_LEVELS &&
                 (io_class != 0 || level == 0);
    return fl_set_end(c, __func__, io_class, valid ? fl_put_only(c, &call) : -EINVAL);
}
