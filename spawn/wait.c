/*
 * A peek with __WALL waits for a child whether it has exec'd or not, and leaves the zombie, which
 * pins the pid. Only under the lock is it reaped, so that a kill never meets a recycled pid.
 */
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "handle.h"
#include "helper.h"
#include "reap.h"
#include "record.h"

enum { NAP_NS = 2000000 };

/* Until the child ends, or the time has passed; where there is no pidfd, until a nap is over. */
static void doze(forkless_child *child, int64_t ns) {
    pthread_mutex_lock(&child->lock);
    int fd = fl_pidfd(child);
    pthread_mutex_unlock(&child->lock);
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    struct timespec timeout = fl_timespec(fd < 0 && ns > NAP_NS ? NAP_NS : ns);
    fl_syscall(SYS_ppoll, (long)&poll, 1, (long)&timeout, 0, 0);
}

/* 0: it has ended; -ECHILD: so it has, and is gone; -ETIMEDOUT. */
static int await_end(forkless_child *child, int64_t deadline_ns) {
    unsigned options = WEXITED | WNOWAIT | __WALL | (deadline_ns == FORKLESS_NEVER ? 0 : WNOHANG);
    for (;;) {
        siginfo_t info;
        int rc = fl_waitid(child, options, &info, NULL);
        if (rc < 0 || info.si_pid != 0)
            return rc;
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return -ETIMEDOUT;
        doze(child, ns);
    }
}

/* With the lock held and the child dead. */
static void reap(forkless_child *child) {
    siginfo_t info;
    forkless_status *status = &child->status;
    int rc = fl_waitid(child, WEXITED, &info, &status->usage);
    status->execed = rc == 0;
    if (rc == -ECHILD)
        rc = fl_waitid(child, WEXITED | __WCLONE, &info, &status->usage);
    child->reaped = true;
    if (rc < 0) {
        status->how = FORKLESS_UNKNOWN;
        status->execed = child->record.code == 0;
        return;
    }
    status->how = info.si_code == CLD_EXITED ? FORKLESS_EXITED : FORKLESS_KILLED;
    status->dumped = info.si_code == CLD_DUMPED;
    status->code = info.si_status;
}

static void reap_and_settle(forkless_child *child) {
    forkless_status *status = &child->status;
    reap(child);
    if (!child->helped.used)
        return;
    if (child->record.code < 0)
        fl_helper_translate(child);
    else
        fl_helper_settle(child, status->how == FORKLESS_EXITED ? status->code : -1);
    status->execed = child->helped.reached && child->record.code == 0;
}

static int await(forkless_child *child, int64_t deadline_ns) {
    pthread_mutex_lock(&child->lock);
    bool reaped = child->reaped;
    pthread_mutex_unlock(&child->lock);
    if (reaped)
        return 0;
    int rc = await_end(child, deadline_ns);
    if (rc < 0 && rc != -ECHILD)
        return rc;
    pthread_mutex_lock(&child->lock);
    if (!child->reaped)
        reap_and_settle(child);
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
    struct fl_cancel before = fl_cancel_hold();
    int rc = await(child, deadline_ns);
    fl_cancel_release(before);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_WAIT, -1, NULL);
    if (child->record.code < 0)
        return fl_record_error(&child->record, child->command, error);
    if (status)
        *status = child->status;
    return 0;
}
