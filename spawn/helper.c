#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/syscall.h"
#include "clock.h"
#include "error.h"
#include "exec/job.h"
#include "job.h"
#include "own.h"
#include "reap.h"

#ifndef FORKLESS_EXEC_PATH
#define FORKLESS_EXEC_PATH ""
#endif

enum { PATH_SIZE = 4096, FIRST_NAP_NS = 5000000, LAST_NAP_NS = 100000000 };

static char path[PATH_SIZE] = FORKLESS_EXEC_PATH;
static _Atomic(struct fl_own *) program;

/* ---- the program ---- */

int forkless_helper_path(const char *wanted) {
    if (!wanted || !*wanted)
        return -EINVAL;
    if (fl_own_number(&program) >= 0)
        return -EBUSY;
    size_t size = strlen(wanted) + 1;
    if (size > sizeof path)
        return -ENAMETOOLONG;
    memcpy(path, wanted, size);
    return 0;
}

/* That what is opened is what is executed, whatever becomes of the path. */
static int open_program(void *unused) {
    (void)unused;
    long fd = fl_syscall(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0, 0);
    return (int)fl_above_stderr(fd);
}

static int missing(const char *what, int code, forkless_error *error) {
    fl_error(error, -ENOTSUP, FORKLESS_STEP_HELPER, -1, path[0] ? path : FL_JOB_NAME);
    if (error)
        snprintf(error->reason, sizeof error->reason, "%s; it is needed for %s",
                 path[0] ? strerror(-code) : "no path is set", what);
    return -ENOTSUP;
}

/* ---- before the child ---- */

static bool is_want(int code) {
    return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

static int open_all(forkless_child *slot, const char *what, forkless_error *error) {
    forkless_command *c = slot->command;
    int rc = path[0] ? fl_own_get(&program, open_program, NULL) : -ENOENT;
    if (rc < 0 && !is_want(rc))
        return missing(what, rc, error);
    slot->helped.program = slot->program_fd = rc;
    if (rc >= 0)
        rc = slot->helped.job = fl_job_open(c);
    if (rc >= 0) {
        int ends[2];
        rc = fl_own_pipe(ends, O_NONBLOCK);
        if (rc >= 0) {
            atomic_store_explicit(&slot->helped.ours, ends[0], memory_order_relaxed);
            slot->helped.theirs = ends[1];
        }
    }
    return rc < 0 ? fl_error(error, rc, FORKLESS_STEP_HELPER, -1, path) : 0;
}

int fl_helper_begin(forkless_child *slot, forkless_error *error) {
    const forkless_command *c = slot->command;
    if (c->descriptors.inherits)
        return fl_error(error, -ENOTSUP, FORKLESS_STEP_HELPER, -1,
                        "together with inherited descriptors");
    slot->helped.used = true;
    slot->helped.count = (int)fl_job_fds(c);
    slot->helped.base = slot->prepared->helped.base;
    slot->before = slot->prepared->helped.before;
    slot->after = slot->prepared->helped.after;
    return open_all(slot, c->helper ? c->helper : "this cgroup", error);
}

void fl_helper_close_theirs(forkless_child *slot) {
    fl_close(slot->helped.theirs);
    fl_close(slot->helped.cgroup);
    slot->helped.theirs = slot->helped.cgroup = -1;
}

void fl_helper_close_ours(forkless_child *slot) {
    fl_close(atomic_exchange(&slot->helped.ours, -1));
}

void fl_helper_name(char name[FL_HELPER_NAME], int base) {
    snprintf(name, FL_HELPER_NAME, FL_JOB_NAME " %d %d", FL_JOB_VERSION, base);
}

/* ---- what went wrong ---- */

static void record(forkless_child *slot, int code, enum forkless_step step, int index, int why) {
    const char *subject = NULL;
    if (step == FORKLESS_STEP_HELPER)
        subject = path;
    else if (step == FORKLESS_STEP_CGROUP)
        subject = slot->command->cgroup_path;
    else
        for (size_t i = 0; i < slot->command->call_count; i++)
            if (slot->command->calls[i].step == step && slot->command->calls[i].index == index)
                subject = slot->command->calls[i].subject;
    slot->record = (struct fl_record){code, step, index, why, subject};
}

/* Its own errors, but for what the target's arguments would have met as well. */
static void translate_exec(forkless_child *slot) {
    int code = slot->record.code;
    if (code != -E2BIG && !is_want(code) && code != -EAGAIN)
        record(slot, -ENOTSUP, FORKLESS_STEP_HELPER, -1, code);
}

void fl_helper_translate(forkless_child *slot) {
    const struct fl_record *r = &slot->record;
    int role = r->index - slot->helped.base;
    if (r->step == FORKLESS_STEP_EXEC)
        translate_exec(slot);
    else if (r->step == FORKLESS_STEP_DESCRIPTOR && role >= 0 && role < slot->helped.count) {
        struct fl_role *roles = slot->helped.roles;
        if (role < FL_JOB_FDS)
            record(slot, r->code, FORKLESS_STEP_HELPER, -1, 0);
        else {
            enum forkless_step step = roles[role - FL_JOB_FDS].step;
            record(slot, r->code, step, step == FORKLESS_STEP_EXEC ? -1 : r->from, 0);
        }
    }
}

/* ---- what it reports ---- */

/* 0: there are no more; -EAGAIN: not yet. */
static long take_report(forkless_child *slot) {
    struct fl_report r;
    long n = fl_syscall(SYS_read, slot->helped.ours, (long)&r, sizeof r, 0, 0);
    if (n != sizeof r)
        return n;
    if (r.code < 0) {
        record(slot, r.code, (enum forkless_step)r.step, r.index, 0);
        slot->helped.told = true;
    } else
        slot->helped.reached = true;
    return n;
}

void fl_helper_settle(forkless_child *slot, int code) {
    if (slot->helped.ours >= 0)
        for (long n = 1; n > 0 || n == -EINTR;)
            n = take_report(slot);
    if (slot->record.code == 0 && !slot->helped.reached && code >= 0)
        record(slot, code == FL_EXEC_REFUSED ? -ENOTSUP : -EIO, FORKLESS_STEP_HELPER, -1, 0);
    fl_helper_close_ours(slot);
}

static bool has_ended(const forkless_child *slot, unsigned options, int *code) {
    siginfo_t info;
    int rc = fl_waitid(slot, WEXITED | WNOWAIT | __WALL | options, &info, NULL);
    *code = rc == 0 && info.si_pid != 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
    return rc < 0 || info.si_pid != 0;
}

/* Where a fork of the host's has copied the pipe, its end does not come with the exec. What was
 * seen once stays true when it has ended. */
static bool is_past_it(forkless_child *slot) {
    char name[32];
    struct stat is, was;
    snprintf(name, sizeof name, "/proc/%d/exe", slot->pid);
    if (slot->helped.reached && stat(name, &is) == 0 && fstat(slot->helped.program, &was) == 0 &&
        (is.st_dev != was.st_dev || is.st_ino != was.st_ino))
        slot->helped.past = true;
    return slot->helped.past;
}

/* True at the pipe's end, or with an error. */
static bool take_all(forkless_child *slot) {
    long n;
    do
        n = take_report(slot);
    while (n > 0 || n == -EINTR);
    return n == 0 || slot->record.code < 0;
}

bool fl_helper_look(forkless_child *slot) {
    return slot->helped.ours < 0 || take_all(slot) || is_past_it(slot);
}

/* Nothing but the pipe's end wakes us: a report comes right before it. */
static bool is_over(forkless_child *slot, int64_t *nap) {
    struct pollfd poll = {.fd = slot->helped.ours};
    struct timespec timeout = fl_timespec(*nap);
    long rc = fl_syscall(SYS_ppoll, (long)&poll, 1, (long)&timeout, 0, 0);
    if (rc == -EINTR)
        return false;
    if (take_all(slot))
        return true;
    timeout = fl_timespec(*nap);
    if (rc != 0) /* a filter, or a host that closes what it does not know */
        fl_syscall(SYS_nanosleep, (long)&timeout, 0, 0, 0, 0);
    if (*nap < LAST_NAP_NS)
        *nap *= 2;
    int code;
    return has_ended(slot, WNOHANG, &code) || is_past_it(slot);
}

void fl_helper_await(forkless_child *slot) {
    int code = -1;
    for (int64_t nap = FIRST_NAP_NS; !is_over(slot, &nap);)
        continue;
    if (slot->record.code == 0 && !slot->helped.reached)
        has_ended(slot, 0, &code); /* it is about to */
    fl_helper_settle(slot, code);
}

bool forkless_helped(const forkless_child *child) {
    return fl_slot_is_held(child) && child->helped.used;
}
