/*
 * A command that is neither fed nor captured is a plain child: one descriptor in the set, which
 * says once that it has ended. It becomes a run only when it has to be ended. One that is fed or
 * captured is a run from the start, with a set of its own in this one.
 *
 * A pidfd that is closed may stay in the set: a child that has not exec'd yet, or a fork of the
 * host's, has a copy. So it is asked for one event (EPOLLONESHOT), or taken out before.
 */
#include "launcher.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>

#include "arch/syscall.h"
#include "clock.h"
#include "error.h"
#include "handle.h"
#include "kernel.h"
#include "kill.h"
#include "own.h"
#include "run.h"
#include "stamps.h"
#include "wait.h"

enum {
    EVENTS = 64,
    RETRY_NS = 20000000, /* what was lacking may be there again though none has ended */
};
/* So long nothing could be started, and nothing runs: then it fails, and so do those behind it. */
#define PATIENCE_NS INT64_C(1000000000)

/* ---- lists ---- */

void fl_tasks_add(struct fl_tasks *list, struct fl_task *task) {
    task->next = NULL;
    if (list->last)
        list->last->next = task;
    else
        list->first = task;
    list->last = task;
}

static void put_first(struct fl_tasks *list, struct fl_task *task) {
    task->next = list->first;
    list->first = task;
    if (!list->last)
        list->last = task;
}

struct fl_task *fl_tasks_take(struct fl_tasks *list) {
    struct fl_task *task = list->first;
    if (task)
        list->first = task->next;
    if (!list->first)
        list->last = NULL;
    return task;
}

static size_t running(const struct fl_launcher *l) {
    return atomic_load_explicit(&l->running_count, memory_order_relaxed);
}

static void link_running(struct fl_launcher *l, struct fl_task *task) {
    task->previous = NULL;
    task->next = l->running;
    if (l->running)
        l->running->previous = task;
    l->running = task;
    atomic_fetch_add_explicit(&l->running_count, 1, memory_order_relaxed);
}

static void unlink_running(struct fl_launcher *l, struct fl_task *task) {
    if (task->previous)
        task->previous->next = task->next;
    else
        l->running = task->next;
    if (task->next)
        task->next->previous = task->previous;
    atomic_fetch_sub_explicit(&l->running_count, 1, memory_order_relaxed);
    if (!l->running)
        l->due = FORKLESS_NEVER;
}

/* ---- its set of descriptors ---- */

int fl_launcher_open(struct fl_launcher *l) {
    long fd = fl_above_stderr(fl_syscall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0));
    l->epoll = fd < 0 ? -1 : (int)fd;
    l->due = FORKLESS_NEVER;
    return fd < 0 ? (int)fd : 0;
}

void fl_launcher_close(struct fl_launcher *l) {
    fl_close(l->epoll);
}

static void watch(struct fl_launcher *l, struct fl_task *task) {
    bool run = task->child->run != NULL;
    struct epoll_event event = {.events = run ? EPOLLIN : EPOLLIN | EPOLLONESHOT, .data.ptr = task};
    task->fd = forkless_poll_fd(task->child);
    if (task->fd >= 0 &&
        fl_syscall(SYS_epoll_ctl, l->epoll, EPOLL_CTL_ADD, task->fd, (long)&event, 0) < 0)
        task->fd = -1;
}

static void unwatch(struct fl_launcher *l, struct fl_task *task) {
    struct epoll_event none = {0};
    if (task->fd >= 0 && !task->seen)
        fl_syscall(SYS_epoll_ctl, l->epoll, EPOLL_CTL_DEL, task->fd, (long)&none, 0);
    task->fd = -1;
}

/* ---- the end of one ---- */

static void settle_as(struct fl_launcher *l, struct fl_task *task,
                      enum forkless_answered answered) {
    task->answered = answered;
    fl_tasks_add(&l->over, task);
}

static void refuse(struct fl_launcher *l, struct fl_task *task, int code) {
    task->cancelled = code == -ECANCELED;
    fl_error(&task->error, code, FORKLESS_STEP_BATCH, -1, NULL);
    settle_as(l, task, FORKLESS_NOT_STARTED);
}

/* Its child has ended, or its run is over. */
static void finish(struct fl_launcher *l, struct fl_task *task) {
    forkless_child *child = task->child;
    forkless_error error;
    forkless_result result = {0};
    int rc = child->run ? forkless_run_result(child, &result, &error)
                        : fl_verdict(child, &result.status, &error);
    unwatch(l, task);
    unlink_running(l, task);
    child->unknown = true; /* be it that not even SIGKILL has ended it */
    forkless_child_free(child);
    task->child = NULL;
    l->held = false;
    if (rc < 0)
        task->error = error;
    else
        task->result = result;
    settle_as(l, task, rc < 0 ? FORKLESS_FAILED : FORKLESS_RAN);
}

/* ---- those that run ---- */

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void reckon(struct fl_launcher *l, struct fl_task *task) {
    forkless_child *child = task->child;
    task->due = child->run ? FORKLESS_NEVER : task->deadline;
    if (child->run || child->command->slow_hook)
        task->due = earlier(task->due, forkless_next_deadline(child));
    if (task->fd < 0 || task->seen)
        task->due = earlier(task->due, fl_later(fl_now(), FL_NAP_NS));
    l->due = earlier(l->due, task->due);
}

/* Of a plain child. */
static bool has_ended(struct fl_task *task) {
    forkless_child *child = task->child;
    struct fl_cancel before = fl_handle_lock(child);
    bool ended = task->seen ? fl_settle_if_seen(child) : fl_has_ended(child);
    if (ended)
        fl_settle(child);
    fl_handle_unlock(child, before);
    return ended;
}

/* From here on a plain child is a run, which looks after its tree. Without memory for that it gets
 * SIGKILL at once. */
static void make_run(struct fl_launcher *l, struct fl_task *task) {
    forkless_run_options options = task->options;
    options.capture = FORKLESS_CAPTURE_NONE;
    options.deadline_ns = task->deadline;
    unwatch(l, task);
    task->seen = false;
    if (!fl_run_adopt(task->child, &options)) {
        forkless_kill(task->child, SIGKILL, options.whom);
        task->deadline = FORKLESS_NEVER;
    }
    watch(l, task);
}

static void end(struct fl_launcher *l, struct fl_task *task) {
    if (!task->child->run && has_ended(task)) { /* of itself, before */
        finish(l, task);
        return;
    }
    task->cancelled = true;
    task->deadline = FORKLESS_NEVER;
    if (!task->child->run)
        make_run(l, task);
    struct fl_cancel before = fl_handle_lock(task->child);
    if (task->child->run)
        fl_run_end(task->child);
    fl_handle_unlock(task->child, before);
    reckon(l, task);
}

/* Does what is due for it, without waiting. */
static void step(struct fl_launcher *l, struct fl_task *task) {
    forkless_child *child = task->child;
    if (!child->run && has_ended(task)) {
        fl_stamps_look(child);
        finish(l, task);
        return;
    }
    if (!child->run && fl_left(task->deadline) == 0)
        make_run(l, task);
    if (forkless_poll(child) == FORKLESS_ENDED && child->run)
        finish(l, task);
    else
        reckon(l, task);
}

static void do_what_is_due(struct fl_launcher *l) {
    int64_t now = l->due == FORKLESS_NEVER ? 0 : fl_now();
    if (now < l->due)
        return;
    l->due = FORKLESS_NEVER;
    for (struct fl_task *task = l->running, *next; task; task = next) {
        next = task->next;
        if (task->due <= now)
            step(l, task);
        else
            l->due = earlier(l->due, task->due);
    }
}

/* Rounded up: what is looked at too early is looked at again. */
static long milliseconds(int64_t ns) {
    int64_t ms = ns / 1000000 + (ns % 1000000 != 0);
    return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

void fl_launcher_look(struct fl_launcher *l, int64_t ns) {
    struct epoll_event events[EVENTS];
    ns = earlier(ns, fl_left(fl_launcher_next(l)));
    long n = fl_syscall6(SYS_epoll_pwait, l->epoll, (long)events, EVENTS,
                         ns == FORKLESS_NEVER ? -1 : milliseconds(ns), 0, FL_MASK_SIZE);
    if (n < 0 && n != -EINTR) { /* a filter */
        fl_nap(ns);
        for (struct fl_task *task = l->running; task; task = task->next)
            task->due = 0;
        l->due = 0;
    }
    for (long i = 0; i < n; i++) {
        struct fl_task *task = events[i].data.ptr;
        if (!task) /* to be woken is all */
            continue;
        task->seen = !task->child->run;
        step(l, task);
    }
    do_what_is_due(l);
}

/* ---- those that wait ---- */

static bool is_held(const struct fl_launcher *l) {
    return l->held && l->waiting.first && fl_left(l->retry) > 0;
}

bool fl_launcher_has_room(const struct fl_launcher *l) {
    return running(l) < l->at_once && !is_held(l);
}

int64_t fl_launcher_next(const struct fl_launcher *l) {
    if (!l->waiting.first)
        return l->due;
    if (fl_launcher_has_room(l))
        return 0;
    int64_t next = earlier(l->due, l->deadline);
    return l->held && running(l) < l->at_once ? earlier(next, l->retry) : next;
}

void fl_launcher_add(struct fl_launcher *l, struct fl_task *task) {
    if (task->index < l->cancelled)
        refuse(l, task, -ECANCELED);
    else
        fl_tasks_add(&l->waiting, task);
}

/* The caller lacks something that comes back, of itself or when others end. */
static bool may_pass(const forkless_error *error) {
    bool before_it_was = error->step > FORKLESS_STEP_SETTER && error->step <= FORKLESS_STEP_CLONE;
    int code = error->code;
    return before_it_was &&
           (code == -EAGAIN || code == -ENOMEM || code == -EMFILE || code == -ENFILE);
}

static bool hold_back(struct fl_launcher *l, struct fl_task *task) {
    int64_t now = fl_now();
    if (running(l) > 0)
        l->gives_up = 0;
    else if (l->gives_up == 0)
        l->gives_up = fl_later(now, PATIENCE_NS);
    else if (now >= l->gives_up)
        return false;
    l->held = true;
    l->retry = fl_later(now, RETRY_NS);
    put_first(&l->waiting, task);
    atomic_fetch_add_explicit(&l->held_back, 1, memory_order_relaxed);
    return true;
}

/* The earliest of three deadlines; FORKLESS_NEVER. */
static int64_t deadline_of(const struct fl_launcher *l, const struct fl_task *task) {
    int64_t own = task->options.deadline_ns ? task->options.deadline_ns : FORKLESS_NEVER;
    int64_t each = l->each ? fl_later(fl_now(), l->each) : FORKLESS_NEVER;
    return earlier(l->deadline, earlier(own, each));
}

static int begin(struct fl_launcher *l, struct fl_task *task, forkless_error *error) {
    forkless_run_options options = task->options;
    options.deadline_ns = task->deadline;
    struct fl_start more = {
        .kept = true,
        .pidfd = true,
        .arguments = task->arguments,
        .first = task->first,
        .count = task->count,
    };
    int rc = fl_run_start_batched(task->command, &options, &more, &task->child, error);
    /* The last resort of a caller without a descriptor: to look now and then. */
    more.pidfd = (rc != -EMFILE && rc != -ENFILE) || running(l) > 0;
    if (!more.pidfd)
        rc = fl_run_start_batched(task->command, &options, &more, &task->child, error);
    return rc;
}

static void launch_one(struct fl_launcher *l, struct fl_task *task) {
    forkless_error error;
    task->deadline = deadline_of(l, task);
    if (fl_left(task->deadline) == 0) {
        refuse(l, task, -ETIMEDOUT);
        return;
    }
    int rc = begin(l, task, &error);
    if (rc == -ETIMEDOUT && error.step == FORKLESS_STEP_ARGUMENT) { /* it has passed just now */
        refuse(l, task, rc);
        return;
    }
    if (rc < 0 && may_pass(&error) && hold_back(l, task))
        return;
    l->held = false;
    if (rc < 0) {
        task->error = error;
        settle_as(l, task, FORKLESS_FAILED);
        return;
    }
    l->gives_up = 0;
    link_running(l, task);
    watch(l, task);
    reckon(l, task);
}

void fl_launcher_launch(struct fl_launcher *l) {
    while (l->waiting.first && fl_left(l->deadline) == 0) {
        l->gives_up = 0;
        refuse(l, fl_tasks_take(&l->waiting), -ETIMEDOUT);
    }
    while (l->waiting.first && fl_launcher_has_room(l) && !atomic_load(&l->asked))
        launch_one(l, fl_tasks_take(&l->waiting));
}

void fl_launcher_cancel(struct fl_launcher *l, size_t below) {
    struct fl_tasks waiting = l->waiting;
    l->cancelled = below;
    l->waiting = (struct fl_tasks){0};
    for (struct fl_task *task; (task = fl_tasks_take(&waiting));)
        fl_launcher_add(l, task);
    l->gives_up = 0;
    for (struct fl_task *task = l->running, *next; task; task = next) {
        next = task->next;
        if (task->index < below && !task->cancelled)
            end(l, task);
    }
}
