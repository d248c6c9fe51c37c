#include "stamps.h"

#include <errno.h>

#include "clock.h"
#include "helper.h"
#include "probes.h"
#include "wait.h"

enum { NAP_NS = 5000000 };

static int64_t get(const _Atomic int64_t *stamp) {
    return atomic_load_explicit(stamp, memory_order_relaxed);
}

static void set(_Atomic int64_t *stamp, int64_t ns) {
    atomic_store_explicit(stamp, ns, memory_order_relaxed);
}

/* ---- what happens ---- */

void fl_stamps_created(forkless_child *child, int64_t asked) {
    child->stamps.asked = asked;
    child->stamps.created = fl_now();
    FL_PROBE(created, child->pid, child->command->program, child->mechanism,
             child->stamps.created - asked);
}

/* How long it took to get there; -1: not known. */
static int64_t since_asked(const forkless_child *child, int64_t ns) {
    return ns != 0 ? ns - child->stamps.asked : -1;
}

/* The first that sees it counts. */
static void execed_at(forkless_child *child, int64_t ns) {
    int64_t none = 0;
    if (!atomic_compare_exchange_strong(&child->stamps.execed, &none, ns))
        return;
    FL_PROBE(execed, child->pid, child->command->program,
             since_asked(child, get(&child->stamps.set_up)),
             since_asked(child, get(&child->stamps.exec_called)), since_asked(child, ns));
}

/* A child that was killed before its exec leaves its caller just as one that has exec'd. */
void fl_stamps_seen_exec(forkless_child *child) {
    if (get(&child->stamps.execed) == 0 && (!child->clock || get(&child->stamps.exec_called) != 0))
        execed_at(child, fl_now());
}

void fl_stamps_execed(forkless_child *child) {
    atomic_store(&child->stamps.exact, true);
    fl_stamps_seen_exec(child);
}

void fl_stamps_seen_end(forkless_child *child) {
    int64_t now = fl_now();
    if (child->status.execed)
        execed_at(child, now);
    else
        set(&child->stamps.execed, 0);
    set(&child->stamps.exited, now);
    if (child->record.code < 0)
        FL_PROBE(failed, child->pid, child->command->program, child->record.code,
                 forkless_step_name(child->record.step), child->record.index,
                 since_asked(child, now));
    else
        FL_PROBE(ended, child->pid, child->command->program, child->status.how, child->status.code,
                 since_asked(child, now));
}

/* ---- whether it is late ---- */

static bool has_hook(const forkless_child *child) {
    return child->command->slow_hook && !atomic_load(&child->stamps.told);
}

static bool is_seen(const forkless_child *child) {
    return get(&child->stamps.execed) != 0 || get(&child->stamps.exited) != 0;
}

/* It has exec'd, or ended. */
static bool word_is_clear(const forkless_child *child) {
    return atomic_load_explicit(&child->word, memory_order_acquire) == 0;
}

/* With the lock held, as the next two. */
static bool is_on_its_way(const forkless_child *child) {
    bool leaves_us = child->helped.used && child->record.code == 0;
    return !is_seen(child) && (leaves_us || !word_is_clear(child));
}

/* Nobody may have been there when it exec'd: then what is known is when it called it. */
static bool is_late(const forkless_child *child) {
    int64_t until = get(&child->stamps.exec_called), execed = get(&child->stamps.execed);
    if (is_on_its_way(child))
        until = fl_now();
    else if (execed != 0 && atomic_load(&child->stamps.exact))
        until = execed;
    return until - child->stamps.asked > child->command->slow_ns;
}

int64_t fl_stamps_next(const forkless_child *child) {
    if (!has_hook(child) || !(is_on_its_way(child) || is_late(child)))
        return INT64_MAX;
    return fl_later(child->stamps.asked, child->command->slow_ns);
}

static void copy(const forkless_child *child, forkless_stamps *out) {
    const struct fl_stamps *s = &child->stamps;
    *out = (forkless_stamps){.asked = s->asked,
                             .created = s->created,
                             .set_up = get(&s->set_up),
                             .exec_called = get(&s->exec_called),
                             .execed = get(&s->execed),
                             .exited = get(&s->exited)};
}

static void call_hook(forkless_child *child) {
    const forkless_command *c = child->command;
    forkless_stamps stamps;
    int saved = errno;
    copy(child, &stamps);
    c->slow_hook(child, &stamps, c->slow_host);
    errno = saved;
}

static void look(forkless_child *child, bool exact, bool tells) {
    if (is_seen(child) && !has_hook(child))
        return;
    pthread_mutex_lock(&child->lock);
    if (!is_seen(child) && fl_has_execed(child)) {
        if (exact)
            fl_stamps_execed(child);
        else
            fl_stamps_seen_exec(child);
    }
    bool tell =
        tells && has_hook(child) && is_late(child) && !atomic_exchange(&child->stamps.told, true);
    pthread_mutex_unlock(&child->lock);
    if (tell)
        call_hook(child);
}

void fl_stamps_look(forkless_child *child) {
    look(child, false, true);
}

void fl_stamps_see(forkless_child *child) {
    look(child, false, false);
}

void fl_stamps_started(forkless_child *child) {
    if (child->command->slow_hook && child->mechanism != FORKLESS_CLONE3_VM)
        look(child, false, true);
}

/* ---- being there when it execs ---- */

/* Whether it did so, or ended, while we watched. */
static bool watch_helped(forkless_child *child, int64_t deadline_ns) {
    for (bool watched = false;; watched = true) {
        pthread_mutex_lock(&child->lock);
        bool over = fl_has_ended(child) || fl_helper_look(child);
        struct pollfd poll = {.fd = child->helped.ours};
        pthread_mutex_unlock(&child->lock);
        int64_t ns = over ? 0 : fl_left(deadline_ns);
        if (ns == 0)
            return over && watched;
        fl_look(&poll, 1, ns < NAP_NS ? ns : NAP_NS);
    }
}

void fl_stamps_watch(forkless_child *child, int64_t deadline_ns) {
    pthread_mutex_lock(&child->lock);
    int64_t due = fl_stamps_next(child);
    pthread_mutex_unlock(&child->lock);
    if (due == INT64_MAX)
        return;
    int64_t until = due < deadline_ns ? due : deadline_ns;
    bool watched = !word_is_clear(child);
    watched &= fl_slot_await(child, UINT64_MAX, until) == 0;
    if (child->helped.used)
        watched = watch_helped(child, until);
    look(child, watched, true);
}

/* ---- for the host ---- */

int forkless_child_stamps(const forkless_child *child, forkless_stamps *out) {
    if (out)
        *out = (forkless_stamps){0};
    if (child && !fl_slot_is_ours(child))
        return -ECHILD;
    if (!out || !fl_slot_is_held(child))
        return -EINVAL;
    copy(child, out);
    return 0;
}

void forkless_child_set_host(forkless_child *child, void *host) {
    if (fl_slot_is_held(child))
        atomic_store(&child->host, host);
}

void *forkless_child_host(const forkless_child *child) {
    return fl_slot_is_held(child) ? atomic_load(&child->host) : NULL;
}

int forkless_command_slow_start(forkless_command *c, int64_t longer_than_ns,
                                forkless_slow_hook hook, void *host) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!hook || longer_than_ns < 0)
        return fl_set_end(c, "forkless_command_slow_start", -1, -EINVAL);
    c->slow_hook = hook;
    c->slow_ns = longer_than_ns;
    c->slow_host = host;
    return 0;
}
