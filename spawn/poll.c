/* Children in an event loop, and many at once. */
#include <errno.h>
#include <stdlib.h>

#include "cancel.h"
#include "clock.h"
#include "handle.h"
#include "helper.h"
#include "run.h"
#include "stamps.h"
#include "wait.h"

enum { FEW = 32 };

int64_t forkless_deadline_in(int64_t ns) {
    return fl_later(fl_now(), ns > 0 ? ns : 0);
}

/* 0, or why it cannot be asked. */
static int check(const forkless_child *child) {
    if (child && !fl_slot_is_ours(child))
        return -ECHILD;
    return fl_slot_is_held(child) ? 0 : -EINVAL;
}

static bool is_pending(forkless_child *child) {
    if (atomic_load_explicit(&child->word, memory_order_acquire) != 0)
        return true;
    return child->helped.used && !fl_helper_look(child);
}

/* The rest with the lock held. */
static int poll_one(forkless_child *child) {
    struct fl_ready ready;
    if (child->run && !child->run->driven) {
        fl_run_interest(child, &ready);
        fl_look(ready.fds, ready.count, 0);
        fl_run_step(child, &ready);
    }
    if (child->run ? child->run->over : fl_has_ended(child))
        return FORKLESS_ENDED;
    return is_pending(child) ? FORKLESS_PENDING : FORKLESS_RUNNING;
}

static int poll_fd(forkless_child *child) {
    int fd = child->run ? fl_run_fd(child) : fl_pidfd(child);
    child->has_no_pidfd = fd < 0 && fd != -ESRCH;
    return fd;
}

static int64_t next_deadline(const forkless_child *child) {
    int64_t next = child->run ? fl_run_next(child) : FORKLESS_NEVER, hook = fl_stamps_next(child);
    int64_t look = child->has_no_pidfd ? fl_later(fl_now(), FL_NAP_NS) : FORKLESS_NEVER;
    next = hook < next ? hook : next;
    return next < look ? next : look;
}

int forkless_poll(forkless_child *child) {
    int rc = check(child);
    if (rc < 0)
        return rc;
    int saved = errno;
    struct fl_cancel before = fl_handle_lock(child);
    rc = poll_one(child);
    pthread_mutex_unlock(&child->lock);
    fl_stamps_look(child);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

int forkless_poll_fd(forkless_child *child) {
    int rc = check(child);
    if (rc < 0)
        return rc == -ECHILD ? -ESRCH : rc;
    int saved = errno;
    struct fl_cancel before = fl_handle_lock(child);
    rc = poll_fd(child);
    fl_handle_unlock(child, before);
    errno = saved;
    return rc;
}

int64_t forkless_next_deadline(const forkless_child *child) {
    if (check(child) < 0)
        return FORKLESS_NEVER;
    forkless_child *unlocked = (forkless_child *)child;
    struct fl_cancel before = fl_handle_lock(unlocked);
    int64_t next = next_deadline(child);
    fl_handle_unlock(unlocked, before);
    return next;
}

/* ---- one of many ---- */

/* The first that has ended: its place; `count`: none. */
static size_t find_ended(forkless_child *const children[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (children[i] && forkless_poll(children[i]) == FORKLESS_ENDED)
            return i;
    return count;
}

/* Until one of them has something to do. True: one has ended, as its pidfd says. */
static bool doze(forkless_child *const children[], size_t count, struct pollfd *fds,
                 int64_t deadline_ns) {
    int64_t next = deadline_ns;
    for (size_t i = 0; i < count; i++) {
        fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
        if (!children[i])
            continue;
        fds[i].fd = forkless_poll_fd(children[i]);
        int64_t due = fds[i].fd == -ESRCH ? 0 : forkless_next_deadline(children[i]);
        next = due < next ? due : next;
    }
    fl_look(fds, count, fl_left(next));
    for (size_t i = 0; i < count; i++)
        if (fds[i].revents && !children[i]->run)
            return true;
    return false;
}

static int check_all(forkless_child *const children[], size_t count) {
    bool any = false;
    for (size_t i = 0; children && i < count; i++) {
        int rc = children[i] ? check(children[i]) : 0;
        if (rc < 0)
            return rc;
        any = any || children[i];
    }
    return any ? 0 : -EINVAL;
}

static int wait_any(forkless_child *const children[], size_t count, struct pollfd *fds,
                    int64_t deadline_ns, size_t *which) {
    size_t ended;
    bool too_soon = false; /* its tracer has still to see it */
    while ((ended = find_ended(children, count)) == count) {
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return -ETIMEDOUT;
        if (too_soon)
            fl_nap(ns);
        too_soon = doze(children, count, fds, deadline_ns);
    }
    if (which)
        *which = ended;
    return 0;
}

int forkless_wait_any(forkless_child *const children[], size_t count, int64_t deadline_ns,
                      size_t *which) {
    struct pollfd few[FEW], *fds = few;
    int saved = errno, rc = check_all(children, count);
    if (rc < 0)
        return rc;
    struct fl_cancel before = fl_cancel_hold();
    if (count > FEW)
        fds = calloc(count, sizeof *fds);
    rc = fds ? wait_any(children, count, fds, deadline_ns, which) : -ENOMEM;
    if (fds != few)
        free(fds);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}
