/*
 * A peek with __WALL waits for a child whether it has exec'd or not, and leaves the zombie, which
 * pins the pid. Only under the lock is it reaped, so that a kill never meets a recycled pid.
 */
#include "wait.h"

#include <errno.h>
#include <sys/wait.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "handle.h"
#include "helper.h"
#include "reap.h"
#include "record.h"
#include "run.h"
#include "stamps.h"

static int peek(const forkless_child *child, unsigned options) {
    siginfo_t info;
    int rc = fl_waitid(child, WEXITED | WNOWAIT | __WALL | options, &info, NULL);
    return rc < 0 ? rc : info.si_pid != 0;
}

bool fl_has_ended(const forkless_child *child) {
    return child->reaped || peek(child, WNOHANG) != 0;
}

/* Killed before its exec it has a word that is zero too, but is not what plain waitid finds. */
bool fl_has_execed(forkless_child *child) {
    siginfo_t info;
    if (child->reaped || atomic_load_explicit(&child->word, memory_order_acquire) != 0 ||
        child->record.code < 0)
        return false;
    if (child->helped.used)
        return fl_helper_look(child) && child->helped.reached && child->record.code == 0;
    return fl_waitid(child, WEXITED | WNOHANG | WNOWAIT, &info, NULL) == 0;
}

void fl_nap(int64_t ns) {
    struct timespec timeout = fl_timespec(ns < FL_NAP_NS ? ns : FL_NAP_NS);
    fl_syscall(SYS_nanosleep, (long)&timeout, 0, 0, 0, 0);
}

void fl_look(struct pollfd *fds, size_t count, int64_t ns) {
    struct timespec timeout = fl_timespec(ns);
    long rc = fl_syscall(SYS_ppoll, (long)fds, (long)count, (long)&timeout, 0, 0);
    if (rc >= 0 || rc == -EINTR)
        return;
    fl_nap(ns);
    for (size_t i = 0; i < count; i++)
        fds[i].revents = fds[i].events;
}

/* Until the child ends, or the time has passed; where there is no pidfd, until a nap is over. True:
 * the pidfd says that it has ended. */
static bool doze(forkless_child *child, int64_t ns) {
    pthread_mutex_lock(&child->lock);
    int fd = fl_pidfd(child);
    pthread_mutex_unlock(&child->lock);
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    fl_look(&poll, 1, fd < 0 && ns > FL_NAP_NS ? FL_NAP_NS : ns);
    return poll.revents != 0;
}

/* As peek() at once. Under the lock: once another thread has reaped it the pid is a stranger's. */
static int look(forkless_child *child, bool opens_pidfd) {
    pthread_mutex_lock(&child->lock);
    int rc = child->reaped ? 1 : peek(child, WNOHANG);
    if (rc == 0 && opens_pidfd)
        fl_pidfd(child);
    pthread_mutex_unlock(&child->lock);
    return rc;
}

/* 0: it has ended, or is gone; -ETIMEDOUT. Where it takes long a pidfd is opened first: it knows
 * the end also where somebody else reaps the child. It knows it too soon where a tracer has not
 * seen it yet. */
static int await_end(forkless_child *child, int64_t deadline_ns) {
    for (bool too_soon = false;;) {
        int rc = look(child, deadline_ns == FORKLESS_NEVER);
        if (rc == 0 && deadline_ns == FORKLESS_NEVER)
            rc = peek(child, 0);
        if (rc != 0)
            return rc == -ECHILD || rc > 0 ? 0 : rc;
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return -ETIMEDOUT;
        if (too_soon)
            fl_nap(ns);
        else
            too_soon = doze(child, ns);
    }
}

static void note_signal(forkless_status *status, int signal, bool dumped) {
    status->how = FORKLESS_KILLED;
    status->code = signal;
    status->dumped = dumped;
}

static void note_exit(forkless_status *status, int code) {
    status->how = FORKLESS_EXITED;
    status->code = code;
}

/* Somebody else was first. */
static void ask_kernel(forkless_child *child) {
    forkless_status *status = &child->status;
    int code;
    status->execed = child->record.code == 0;
    status->how = FORKLESS_UNKNOWN;
    if (!fl_exit_code(child, &code))
        return;
    if (WIFEXITED(code))
        note_exit(status, WEXITSTATUS(code));
    else
        note_signal(status, WTERMSIG(code), WCOREDUMP(code));
}

/* Of one that has ended. With WNOHANG false: its tracer has still to see that. */
static bool reap(forkless_child *child, unsigned options) {
    siginfo_t info;
    forkless_status *status = &child->status;
    int rc = fl_waitid(child, WEXITED | options, &info, &status->usage);
    bool execed = rc == 0;
    if (rc == -ECHILD)
        rc = fl_waitid(child, WEXITED | __WCLONE | options, &info, &status->usage);
    if (rc == 0 && info.si_pid == 0)
        return false;
    status->execed = execed;
    child->reaped = true;
    if (rc < 0)
        ask_kernel(child);
    else if (info.si_code == CLD_EXITED)
        note_exit(status, info.si_status);
    else
        note_signal(status, info.si_status, info.si_code == CLD_DUMPED);
    return true;
}

static bool settle(forkless_child *child, unsigned options) {
    forkless_status *status = &child->status;
    if (child->reaped)
        return true;
    if (!reap(child, options))
        return false;
    if (child->helped.used) {
        if (child->record.code < 0 && !child->helped.told)
            fl_helper_translate(child);
        else
            fl_helper_settle(child, status->how == FORKLESS_EXITED ? status->code : -1);
        status->execed = child->helped.reached && child->record.code == 0;
    }
    fl_stamps_seen_end(child);
    return true;
}

void fl_settle(forkless_child *child) {
    settle(child, 0);
}

bool fl_settle_if_seen(forkless_child *child) {
    return settle(child, WNOHANG);
}

int fl_verdict(const forkless_child *child, forkless_status *status, forkless_error *error) {
    if (child->record.code < 0)
        return fl_record_error(&child->record, child->command, error);
    if (status)
        *status = child->status;
    return 0;
}

static int await(forkless_child *child, int64_t deadline_ns) {
    int rc = await_end(child, deadline_ns);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&child->lock);
    fl_settle(child);
    pthread_mutex_unlock(&child->lock);
    return 0;
}

int forkless_wait(forkless_child *child, int64_t deadline_ns, forkless_status *status,
                  forkless_error *error) {
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    if (status)
        *status = (forkless_status){0};
    if (child && !fl_slot_is_ours(child))
        return fl_error(error, -ECHILD, FORKLESS_STEP_WAIT, -1, NULL);
    if (!fl_slot_is_held(child))
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    if (!child->run)
        fl_stamps_watch(child, deadline_ns);
    int rc = child->run ? fl_run_await(child, deadline_ns) : await(child, deadline_ns);
    fl_stamps_look(child);
    fl_cancel_release(before);
    errno = saved;
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_WAIT, -1, NULL);
    return fl_verdict(child, status, error);
}
