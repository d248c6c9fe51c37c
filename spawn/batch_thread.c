/*
 * Commands are handed over, and handed back, by lists that need no lock: the caller never waits for
 * the thread. Either side is woken only if it may be asleep: the thread says so when it would start
 * one more (`hungry`), and then looks once more for what was handed over before that was seen; the
 * caller's eventfd is written when the list that it takes was empty.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "arch/syscall.h"
#include "batch.h"
#include "own.h"

enum { STACK = 256 * 1024 };

static int open_event(void) {
    return (int)fl_above_stderr(fl_syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0));
}

static void tell(int event) {
    uint64_t one = 1;
    fl_syscall(SYS_write, event, (long)&one, sizeof one, 0, 0);
}

/* ---- lists ---- */

/* Whether it was empty. */
static bool push(_Atomic(struct fl_task *) *list, struct fl_task *task) {
    struct fl_task *top = atomic_load(list);
    do
        task->next = top;
    while (!atomic_compare_exchange_weak(list, &top, task));
    return !top;
}

/* All of it, the first one first. */
static struct fl_tasks take_all(_Atomic(struct fl_task *) *list) {
    struct fl_task *top = atomic_load(list) ? atomic_exchange(list, NULL) : NULL;
    struct fl_tasks tasks = {.last = top};
    while (top) {
        struct fl_task *below = top->next;
        top->next = tasks.first;
        tasks.first = top;
        top = below;
    }
    return tasks;
}

/* ---- the thread ---- */

/* Cancelled is what was there when that was asked for, be it in the list still. */
static void take_over(forkless_batch *b) {
    struct fl_tasks tasks = take_all(&b->thread.handed);
    size_t cancelled = atomic_load(&b->thread.cancelled);
    if (cancelled != b->launcher.cancelled)
        fl_launcher_cancel(&b->launcher, cancelled);
    for (struct fl_task *task; (task = fl_tasks_take(&tasks));)
        fl_launcher_add(&b->launcher, task);
}

static void hand_back(forkless_batch *b) {
    bool was_empty = false;
    for (struct fl_task *task; (task = fl_tasks_take(&b->launcher.over));)
        was_empty |= push(&b->thread.done, task);
    if (was_empty)
        tell(b->thread.news);
}

static void sleep_well(forkless_batch *b) {
    struct fl_launcher *l = &b->launcher;
    bool hungry = !l->waiting.first && fl_launcher_has_room(l);
    atomic_store(&b->thread.hungry, hungry);
    bool asked = atomic_load(&b->thread.stops) ||
                 atomic_load(&b->thread.cancelled) != l->cancelled ||
                 (hungry && atomic_load(&b->thread.handed));
    fl_launcher_look(l, asked ? 0 : FORKLESS_NEVER);
    atomic_store(&b->thread.hungry, false);
}

static void *launch(void *batch) {
    forkless_batch *b = batch;
    while (!atomic_load(&b->thread.stops)) {
        atomic_store(&b->launcher.asked, false);
        take_over(b);
        fl_launcher_launch(&b->launcher);
        hand_back(b);
        sleep_well(b);
    }
    return NULL;
}

/* ---- the caller ---- */

/* Without the signals that libc keeps for itself, which block nobody's setuid. */
static int create(forkless_batch *b) {
    pthread_attr_t attributes;
    sigset_t all, before;
    int code = pthread_attr_init(&attributes);
    if (code != 0)
        return -code;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&b->thread.id, &attributes, launch, b);
    if (code == EINVAL) /* the host's thread-local storage alone is larger */
        code = pthread_create(&b->thread.id, NULL, launch, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -code;
}

static void close_events(struct fl_thread *t) {
    fl_close(t->wake);
    fl_close(t->news);
    t->wake = t->news = -1;
}

int fl_thread_begin(forkless_batch *b) {
    struct fl_thread *t = &b->thread;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    t->wake = open_event();
    t->news = open_event();
    int rc = t->wake < 0 ? t->wake : t->news < 0 ? t->news : 0;
    if (rc == 0)
        rc = (int)fl_syscall(SYS_epoll_ctl, b->launcher.epoll, EPOLL_CTL_ADD, t->wake, (long)&event,
                             0);
    if (rc == 0)
        rc = create(b);
    if (rc < 0)
        close_events(t);
    return rc;
}

void fl_thread_end(forkless_batch *b) {
    atomic_store(&b->thread.stops, true);
    atomic_store(&b->launcher.asked, true);
    tell(b->thread.wake);
    pthread_join(b->thread.id, NULL);
    close_events(&b->thread);
}

void fl_thread_hand_over(forkless_batch *b, struct fl_task *task) {
    push(&b->thread.handed, task);
    if (atomic_load(&b->thread.hungry) && atomic_exchange(&b->thread.hungry, false))
        tell(b->thread.wake);
}

struct fl_tasks fl_thread_take(forkless_batch *b) {
    uint64_t times;
    fl_syscall(SYS_read, b->thread.news, (long)&times, sizeof times, 0, 0);
    return take_all(&b->thread.done);
}

void fl_thread_cancel(forkless_batch *b, size_t below) {
    atomic_store(&b->thread.cancelled, below);
    atomic_store(&b->launcher.asked, true);
    tell(b->thread.wake);
}
