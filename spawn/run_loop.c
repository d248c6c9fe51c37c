/*
 * What a run is about to do depends on where it is: the child lives; it has ended, and others still
 * hold its outputs (draining); it is being ended (SIGTERM, then SIGKILL), until nobody of those who
 * were signalled is left.
 *
 * Its child is reaped last, so that the group's number stays its own, but where the kernel lets a
 * pidfd stand for the group (6.9): then it is reaped first, as a zombie hides whether others are
 * left.
 */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>

#include "arch/syscall.h"
#include "clock.h"
#include "handle.h"
#include "kill.h"
#include "own.h"
#include "stamps.h"
#include "wait.h"

/* Between two looks for those who are left, which may have to go through all processes. */
enum { FIRST_LOOK_NS = 5000000, LAST_LOOK_NS = 80000000 };

/* ---- for event loops ---- */

static int watch(struct fl_run *run, int fd, uint32_t events) {
    struct epoll_event event = {.events = events};
    if (run->epoll < 0 || fd < 0 || epoll_ctl(run->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    return -errno;
}

/* A copy that a fork of the host's has made would keep it in. */
static void unwatch(struct fl_run *run, int fd) {
    if (run->epoll >= 0 && fd >= 0)
        epoll_ctl(run->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void fl_run_close(struct fl_run *run, int *fd) {
    unwatch(run, *fd);
    fl_close(*fd);
    *fd = -1;
}

int fl_run_fd(forkless_child *child) {
    struct fl_run *run = child->run;
    if (run->epoll >= 0)
        return run->epoll;
    int fd = fl_pidfd(child);
    if (fd < 0 && fd != -ESRCH)
        return fd;
    long epoll = fl_above_stderr(fl_syscall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0));
    if (epoll < 0)
        return (int)epoll;
    run->epoll = (int)epoll;
    int rc = watch(run, run->input.fd, EPOLLOUT);
    if (rc == 0)
        rc = watch(run, run->outputs[0].fd, EPOLLIN);
    if (rc == 0)
        rc = watch(run, run->outputs[1].fd, EPOLLIN);
    if (rc == 0 && (run->over || !(run->exited || run->traced)))
        rc = watch(run, run->watched = child->pidfd, EPOLLIN);
    if (rc == 0)
        return run->epoll;
    fl_close(run->epoll);
    run->epoll = run->watched = -1;
    return rc;
}

/* ---- what there is to wait for ---- */

static void want(struct fl_ready *ready, int fd, short events) {
    if (fd >= 0)
        ready->fds[ready->count++] = (struct pollfd){.fd = fd, .events = events};
}

void fl_run_interest(const forkless_child *child, struct fl_ready *ready) {
    const struct fl_run *run = child->run;
    ready->count = 0;
    want(ready, run->input.fd, POLLOUT);
    want(ready, run->outputs[0].fd, POLLIN);
    want(ready, run->outputs[1].fd, POLLIN);
    if (!run->exited && !run->traced)
        want(ready, child->pidfd, POLLIN);
}

int64_t fl_run_next(const forkless_child *child) {
    const struct fl_run *run = child->run;
    if (run->over)
        return 0;
    int64_t next = run->deadline;
    if (run->ending != LIVES)
        next = run->next;
    else if (run->exited && run->drained < next)
        next = run->drained;
    int64_t look = FORKLESS_NEVER;
    if (run->exited && run->ending != LIVES)
        look = run->look;
    else if (!run->exited && (child->pidfd < 0 || run->traced))
        look = fl_now() + FL_NAP_NS;
    return next < look ? next : look;
}

/* ---- input and outputs ---- */

static bool is_ready(const struct fl_ready *ready, int fd) {
    for (unsigned i = 0; fd >= 0 && i < ready->count; i++)
        if (ready->fds[i].fd == fd)
            return ready->fds[i].revents != 0;
    return false;
}

static void mind_the_limit(struct fl_run *run, struct fl_output *out) {
    if (out->dropped == 0 || run->at_limit == FORKLESS_DROP)
        return;
    run->limited = true;
    if (run->at_limit == FORKLESS_STOP)
        fl_run_close(run, &out->fd);
}

static void read_output(struct fl_run *run, struct fl_output *out,
                        bool (*read)(struct fl_output *)) {
    if (out->fd >= 0 && !read(out))
        fl_run_close(run, &out->fd);
    mind_the_limit(run, out);
}

static void move_data(struct fl_run *run, const struct fl_ready *ready) {
    if (is_ready(ready, run->input.fd) && !fl_input_feed(&run->input))
        fl_run_close(run, &run->input.fd);
    for (int i = 0; i < 2; i++)
        if (is_ready(ready, run->outputs[i].fd))
            read_output(run, &run->outputs[i], fl_output_read);
}

static void drain(struct fl_run *run) {
    for (int i = 0; i < 2; i++)
        read_output(run, &run->outputs[i], fl_output_drain);
}

static bool is_read(const struct fl_run *run) {
    return run->outputs[0].fd < 0 && run->outputs[1].fd < 0;
}

/* ---- the end ---- */

static void terminate(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    run->ending = TERMINATED;
    run->nap = FIRST_LOOK_NS;
    run->next = fl_later(now, run->grace);
    fl_kill(child, SIGTERM, run->whom);
    fl_kill(child, SIGCONT, run->whom);
}

void fl_run_end(forkless_child *child) {
    if (!child->run->over && child->run->ending == LIVES)
        terminate(child, fl_now());
}

static void kill_all(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    run->ending = KILLED;
    run->nap = FIRST_LOOK_NS;
    run->look = 0;
    run->next = fl_later(now, run->grace);
    fl_kill(child, SIGKILL, FORKLESS_CHILD); /* which may have left those who get it next */
    fl_kill(child, SIGKILL, run->whom);
}

/* Whether none of those who were signalled is left, or no more is to be done about them. */
static bool is_settled(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    if (run->whom == FORKLESS_GROUP && !child->reaped) {
        if (fl_kill_outlives_reaping(child)) {
            fl_settle(child);
        } else {
            if (run->ending == TERMINATED && is_read(run))
                kill_all(child, now);
            if (run->ending == TERMINATED) {
                run->look = FORKLESS_NEVER; /* the end of the outputs, or of grace, comes first */
                return false;
            }
            fl_settle(child);
        }
    }
    if (run->whom == FORKLESS_CHILD)
        return true;
    bool last = run->ending == KILLED && now >= run->next;
    if (now < run->look && !last)
        return false;
    if (!fl_kill_finds_any(child, run->whom))
        return true;
    run->look = now + run->nap;
    run->nap = run->nap < LAST_LOOK_NS ? 2 * run->nap : run->nap;
    run->survivors = last;
    return last;
}

static void finish(forkless_child *child) {
    struct fl_run *run = child->run;
    drain(run);
    run->writers_remained = !is_read(run);
    fl_run_close(run, &run->input.fd);
    fl_run_close(run, &run->outputs[0].fd);
    fl_run_close(run, &run->outputs[1].fd);
    if (run->exited)
        fl_settle(child);
    else { /* not even by SIGKILL */
        run->survivors = true;
        child->status.how = FORKLESS_UNKNOWN;
        child->status.execed = fl_has_execed(child);
    }
    run->over = true;
    watch(run, run->watched < 0 ? child->pidfd : -1, EPOLLIN);
}

static void look_for_end(forkless_child *child) {
    struct fl_run *run = child->run;
    if (run->exited)
        return;
    run->exited = fl_has_ended(child);
    run->traced = !run->exited && child->pidfd >= 0;
    if (run->exited || run->traced) {
        unwatch(run, run->watched);
        run->watched = -1;
    }
    if (run->exited) {
        run->drained = fl_later(fl_now(), run->linger);
        drain(run);
    }
}

static void mind_the_time(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    bool late = now >= run->deadline && !(run->exited && is_read(run));
    bool too_much = run->limited && run->at_limit == FORKLESS_END && !run->exited;
    if (run->ending == LIVES && (late || too_much)) {
        run->timed_out = late;
        terminate(child, now);
    } else if (run->ending == TERMINATED && now >= run->next)
        kill_all(child, now);
    else if (run->ending == KILLED && !run->exited && now >= run->next)
        finish(child);
}

void fl_run_step(forkless_child *child, const struct fl_ready *ready) {
    struct fl_run *run = child->run;
    if (run->over)
        return;
    move_data(run, ready);
    if (child->pidfd < 0 || run->traced || is_ready(ready, child->pidfd))
        look_for_end(child);
    int64_t now = fl_now();
    mind_the_time(child, now);
    if (run->over || !run->exited)
        return;
    bool done = run->ending == LIVES ? is_read(run) || now >= run->drained : is_settled(child, now);
    if (done)
        finish(child);
}

static void step_after(forkless_child *child, struct fl_ready *ready, int64_t ns) {
    fl_look(ready->fds, ready->count, ns);
    pthread_mutex_lock(&child->lock);
    fl_run_step(child, ready);
    pthread_mutex_unlock(&child->lock);
    fl_stamps_see(child);
}

/* 0: it is over; -ETIMEDOUT; -EAGAIN: the slow-start hook is due. */
static int drive(forkless_child *child, int64_t deadline_ns) {
    for (bool looked = false;; looked = true) {
        struct fl_ready ready;
        pthread_mutex_lock(&child->lock);
        bool over = child->run->over;
        int64_t next = fl_run_next(child), hook = fl_stamps_next(child);
        int64_t left = fl_left(deadline_ns);
        fl_run_interest(child, &ready);
        pthread_mutex_unlock(&child->lock);
        if (over)
            return 0;
        if (left == 0 && looked)
            return -ETIMEDOUT;
        if (fl_left(hook) == 0)
            return -EAGAIN;
        int64_t due = fl_left(hook < next ? hook : next);
        step_after(child, &ready, due < left ? due : left);
    }
}

/*
 * One thread at a time. If another closed an end that this one polls, ppoll would keep the pipe
 * open, and when it is woken look at whatever has that number by then: its child would wait for
 * the end of its input for ever.
 */
static bool take_turn(forkless_child *child, int64_t deadline_ns) {
    struct fl_run *run = child->run;
    for (;;) {
        pthread_mutex_lock(&child->lock);
        uint32_t turn = run->turn;
        bool taken = run->driven;
        run->driven = true;
        pthread_mutex_unlock(&child->lock);
        if (!taken)
            return true;
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return false;
        struct timespec timeout = fl_timespec(ns);
        fl_syscall(SYS_futex, (long)&run->turn, FL_FUTEX_WAIT, turn, (long)&timeout, 0);
    }
}

static void give_turn(forkless_child *child) {
    struct fl_run *run = child->run;
    pthread_mutex_lock(&child->lock);
    run->driven = false;
    run->turn++;
    pthread_mutex_unlock(&child->lock);
    fl_syscall(SYS_futex, (long)&run->turn, FL_FUTEX_WAKE, INT_MAX, 0, 0);
}

int fl_run_await(forkless_child *child, int64_t deadline_ns) {
    for (;;) {
        if (!take_turn(child, deadline_ns))
            return -ETIMEDOUT;
        int rc = drive(child, deadline_ns);
        give_turn(child);
        if (rc != -EAGAIN)
            return rc;
        fl_stamps_look(child); /* out of turn: the hook may wait for the child */
    }
}
