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
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "handle.h"
#include "kill.h"
#include "own.h"
#include "start.h"
#include "stream.h"
#include "wait.h"

enum {
    STANDARD_GRACE_NS = FL_SECOND_NS / 2,
    /* Between two looks for those who are left, which may have to go through all processes. */
    FIRST_LOOK_NS = 5000000,
    LAST_LOOK_NS = 80000000,
};

struct fl_run {
    struct fl_input input;
    struct fl_output outputs[2];
    enum forkless_at_limit at_limit;
    int64_t deadline, grace;
    enum forkless_whom whom;

    enum { LIVES, TERMINATED, KILLED } ending;
    int64_t next, look; /* of ending: SIGKILL or giving up; the next look, when it has exited */
    int64_t nap;        /* before the one after that */
    bool exited;
    int64_t drained; /* when reading ends at the latest; from its exit on */
    bool over, taken;
    bool timed_out, limited, writers_remained, survivors;
    int epoll, watched; /* the pidfd in it; -1: none */
};

bool fl_run_is_over(const forkless_child *child) {
    return child->run->over;
}

/* ---- for event loops ---- */

static void watch(struct fl_run *run, int fd, uint32_t events) {
    struct epoll_event event = {.events = events};
    if (run->epoll >= 0 && fd >= 0)
        epoll_ctl(run->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* A copy that a fork of the host's has made would keep it in. */
static void unwatch(struct fl_run *run, int fd) {
    if (run->epoll >= 0 && fd >= 0)
        epoll_ctl(run->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void close_end(struct fl_run *run, int *fd) {
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
    watch(run, run->input.fd, EPOLLOUT);
    watch(run, run->outputs[0].fd, EPOLLIN);
    watch(run, run->outputs[1].fd, EPOLLIN);
    if (!run->exited || run->over)
        watch(run, run->watched = child->pidfd, EPOLLIN);
    return run->epoll;
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
    if (!run->exited)
        want(ready, child->pidfd, POLLIN);
}

int64_t fl_run_next(const forkless_child *child) {
    const struct fl_run *run = child->run;
    if (run->over)
        return 0;
    int64_t next = run->deadline;
    if (run->ending != LIVES)
        next = run->next;
    else if (run->exited)
        next = run->drained;
    int64_t look = FORKLESS_NEVER;
    if (run->exited && run->ending != LIVES)
        look = run->look;
    else if (!run->exited && child->pidfd < 0)
        look = fl_now() + FL_NAP_NS;
    return next < look ? next : look;
}

/* ---- input and outputs ---- */

static bool is_ready(const struct fl_ready *ready, int fd) {
    for (unsigned i = 0; i < ready->count; i++)
        if (ready->fds[i].fd == fd)
            return ready->fds[i].revents != 0;
    return false;
}

static void move_data(struct fl_run *run, const struct fl_ready *ready) {
    if (run->input.fd >= 0 && is_ready(ready, run->input.fd) && !fl_input_feed(&run->input))
        close_end(run, &run->input.fd);
    for (int i = 0; i < 2; i++) {
        struct fl_output *out = &run->outputs[i];
        if (out->fd >= 0 && is_ready(ready, out->fd) && !fl_output_read(out))
            close_end(run, &out->fd);
        if (out->dropped == 0 || run->at_limit == FORKLESS_DROP)
            continue;
        run->limited = true;
        if (run->at_limit == FORKLESS_STOP)
            close_end(run, &out->fd);
    }
}

static void drain(struct fl_run *run) {
    for (int i = 0; i < 2; i++)
        if (run->outputs[i].fd >= 0 && !fl_output_drain(&run->outputs[i]))
            close_end(run, &run->outputs[i].fd);
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

static void kill_all(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    run->ending = KILLED;
    run->nap = FIRST_LOOK_NS;
    run->look = 0;
    run->next = fl_later(now, run->grace);
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
            if (run->ending == TERMINATED)
                return false;
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
    close_end(run, &run->input.fd);
    close_end(run, &run->outputs[0].fd);
    close_end(run, &run->outputs[1].fd);
    if (run->exited)
        fl_settle(child);
    else { /* not even by SIGKILL */
        run->survivors = true;
        child->status.how = FORKLESS_UNKNOWN;
        child->status.execed = true;
    }
    run->over = true;
    watch(run, run->watched < 0 ? child->pidfd : -1, EPOLLIN);
}

static void look_for_end(forkless_child *child) {
    struct fl_run *run = child->run;
    if (run->exited || !fl_has_ended(child))
        return;
    run->exited = true;
    run->drained = fl_later(fl_now(), run->grace);
    unwatch(run, run->watched);
    run->watched = -1;
    drain(run);
}

static void mind_the_time(forkless_child *child, int64_t now) {
    struct fl_run *run = child->run;
    bool late = now >= run->deadline;
    if (run->ending == LIVES && !run->exited &&
        (late || (run->limited && run->at_limit == FORKLESS_END))) {
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
    if (child->pidfd < 0 || is_ready(ready, child->pidfd))
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
    struct timespec timeout = fl_timespec(ns);
    fl_syscall(SYS_ppoll, (long)ready->fds, ready->count, (long)&timeout, 0, 0);
    pthread_mutex_lock(&child->lock);
    fl_run_step(child, ready);
    pthread_mutex_unlock(&child->lock);
}

int fl_run_await(forkless_child *child, int64_t deadline_ns) {
    for (bool looked = false;; looked = true) {
        struct fl_ready ready;
        pthread_mutex_lock(&child->lock);
        bool over = child->run->over;
        int64_t next = fl_run_next(child), left = fl_left(deadline_ns);
        fl_run_interest(child, &ready);
        pthread_mutex_unlock(&child->lock);
        if (over)
            return 0;
        if (left == 0 && looked)
            return -ETIMEDOUT;
        int64_t due = fl_left(next);
        step_after(child, &ready, due < left ? due : left);
    }
}

/* ---- its beginning and its result ---- */

static int check(const forkless_command *command, const forkless_run_options *o) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        reserved |= o->reserved[i];
    if (reserved || o->grace_ns < 0 || (!o->input && o->input_size) ||
        (unsigned)o->capture > FORKLESS_CAPTURE_NONE || (unsigned)o->at_limit > FORKLESS_END ||
        (unsigned)o->whom > FORKLESS_CGROUP)
        return -EINVAL;
    if (o->whom == FORKLESS_CGROUP && command && command->cgroup < 0 && !command->cgroup_path)
        return -EINVAL;
    return o->deadline_ns == 0 || fl_left(o->deadline_ns) > 0 ? 0 : -ETIMEDOUT;
}

static struct fl_run *make(const forkless_run_options *o) {
    struct fl_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct fl_run){
        .input = {.fd = -1, .data = o->input, .size = o->input_size},
        .at_limit = o->at_limit,
        .deadline = o->deadline_ns ? o->deadline_ns : FORKLESS_NEVER,
        .grace = o->grace_ns ? o->grace_ns : STANDARD_GRACE_NS,
        .whom = o->whom,
        .epoll = -1,
        .watched = -1,
    };
    for (int i = 0; i < 2; i++)
        run->outputs[i] = (struct fl_output){.fd = -1, .limit = o->limit ? o->limit : SIZE_MAX};
    run->outputs[0].captured = o->capture != FORKLESS_CAPTURE_NONE;
    run->outputs[1].captured = o->capture == FORKLESS_CAPTURE_BOTH;
    return run;
}

static int take_end(forkless_child *child, int child_fd) {
    int fd = forkless_child_pipe(child, child_fd);
    if (fd >= 0)
        fl_syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK, 0, 0);
    return fd < 0 ? -1 : fd;
}

static int start(const forkless_command *command, const forkless_run_options *o,
                 forkless_child **out, forkless_error *error) {
    static const forkless_run_options standard;
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    if (out)
        *out = NULL;
    if (!o)
        o = &standard;
    int rc = out ? check(command, o) : -EINVAL;
    if (rc < 0)
        return fl_error(error, rc, rc == -ETIMEDOUT ? FORKLESS_STEP_WAIT : FORKLESS_STEP_ARGUMENT,
                        -1, NULL);
    struct fl_run *run = make(o);
    if (!run)
        return fl_error(error, -ENOMEM, FORKLESS_STEP_SLOT, -1, NULL);
    const struct fl_extra_pipes pipes = {
        .input = o->input != NULL,
        .output = run->outputs[0].captured,
        .errors = run->outputs[1].captured || o->capture == FORKLESS_CAPTURE_MERGED,
        .merged = o->capture == FORKLESS_CAPTURE_MERGED,
    };
    rc = fl_start(command, o->override, &pipes, o->whom == FORKLESS_GROUP, out, error);
    if (rc < 0) {
        free(run);
        return rc;
    }
    if (pipes.input)
        run->input.fd = take_end(*out, 0);
    if (run->outputs[0].captured)
        run->outputs[0].fd = take_end(*out, 1);
    if (run->outputs[1].captured)
        run->outputs[1].fd = take_end(*out, 2);
    if (run->input.fd >= 0 && o->input_size == 0)
        close_end(run, &run->input.fd);
    (*out)->run = run;
    fl_pidfd(*out);
    return 0;
}

int forkless_run_start(const forkless_command *command, const forkless_run_options *options,
                       forkless_child **out, forkless_error *error) {
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    int rc = start(command, options, out, error);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

static void take(forkless_child *child, forkless_result *result) {
    struct fl_run *run = child->run;
    *result = (forkless_result){
        .status = child->status,
        .output_size = run->outputs[0].size,
        .errors_size = run->outputs[1].size,
        .output_dropped = run->outputs[0].dropped,
        .errors_dropped = run->outputs[1].dropped,
        .input_written = run->input.written,
        .timed_out = run->timed_out,
        .limited = run->limited,
        .writers_remained = run->writers_remained,
        .survivors = run->survivors,
    };
    if (run->outputs[0].captured)
        result->output = fl_output_take(&run->outputs[0]);
    if (run->outputs[1].captured)
        result->errors = fl_output_take(&run->outputs[1]);
    run->taken = true;
}

int forkless_run_result(forkless_child *child, forkless_result *result) {
    if (!result)
        return -EINVAL;
    *result = (forkless_result){0};
    if (child && !fl_slot_is_ours(child))
        return -EBADF;
    if (!fl_slot_is_held(child))
        return -EINVAL;
    int saved = errno, rc = 0;
    struct fl_cancel before = fl_handle_lock(child);
    if (!child->run || child->run->taken)
        rc = -EBADF;
    else if (!child->run->over)
        rc = -EBUSY;
    else
        take(child, result);
    fl_handle_unlock(child, before);
    errno = saved;
    return rc;
}

void forkless_result_free(forkless_result *result) {
    if (!result)
        return;
    int saved = errno;
    free(result->output);
    free(result->errors);
    *result = (forkless_result){0};
    errno = saved;
}

int forkless_run(const forkless_command *command, const forkless_run_options *options,
                 forkless_result *result, forkless_error *error) {
    forkless_child *child;
    if (!result)
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    *result = (forkless_result){0};
    int rc = forkless_run_start(command, options, &child, error);
    if (rc < 0)
        return rc;
    rc = forkless_wait(child, FORKLESS_NEVER, NULL, error);
    if (rc == 0)
        forkless_run_result(child, result);
    forkless_child_free(child);
    return rc;
}

void fl_run_free(forkless_child *child) {
    struct fl_run *run = child->run;
    if (!run)
        return;
    child->run = NULL;
    close_end(run, &run->input.fd);
    close_end(run, &run->outputs[0].fd);
    close_end(run, &run->outputs[1].fd);
    fl_close(run->epoll);
    free(run->outputs[0].data);
    free(run->outputs[1].data);
    free(run);
}
