#include "spawners.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

enum { STACK_SIZE = 1024 * 1024 }; /* thread-local memory is in it: a sanitizer has much */

struct spawner {
    struct spawners *all;
    pthread_t thread;
    struct turn turn;
};

struct spawners {
    atomic_uint sample; /* its number: they sleep until it is another */
    atomic_uint busy;   /* those that are not asleep, or about to be */
    bool over;
    char *stacks; /* libc would keep its own mapped, and each fork after it would copy them */
    unsigned count;
    struct spawner list[];
};

static void sleep_while(atomic_uint *word, unsigned value) {
    while (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *live(void *argument) {
    struct spawner *spawner = argument;
    struct spawners *all = spawner->all;
    for (unsigned sample = 0;; sample++) {
        if (atomic_fetch_sub(&all->busy, 1) == 1)
            wake(&all->busy);
        sleep_while(&all->sample, sample);
        if (all->over)
            return NULL;
        turn_take(&spawner->turn);
    }
}

/* For one more sample, or to their end. */
static void release(struct spawners *all) {
    atomic_store(&all->busy, all->count);
    atomic_fetch_add(&all->sample, 1);
    wake(&all->sample);
}

void spawners_wait(struct spawners *all) {
    for (unsigned busy; (busy = atomic_load(&all->busy)) > 0;)
        sleep_while(&all->busy, busy);
}

void spawners_take(struct spawners *all, struct turn *whole) {
    struct turn part = *whole;
    for (unsigned i = 0; i < all->count; i++) {
        part.born = whole->born + i * part.want;
        all->list[i].turn = part;
    }
    whole->called = now_ns();
    release(all);
    spawners_wait(all);
    for (unsigned i = 0; i < all->count; i++) {
        const struct turn *turn = &all->list[i].turn;
        whole->made += turn->made;
        whole->cpu += turn->cpu;
        if (turn->returned > whole->returned)
            whole->returned = turn->returned;
        if (turn->reaped > whole->reaped)
            whole->reaped = turn->reaped;
        if (turn->problem[0] && !whole->problem[0]) {
            memcpy(whole->problem, turn->problem, sizeof whole->problem);
            whole->unsupported = turn->unsupported;
        }
    }
}

/* 0 or an errno, with as many as there are in `count`. */
static int start(struct spawners *all, unsigned count) {
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);
    atomic_store(&all->busy, count);
    for (; rc == 0 && all->count < count; all->count += rc == 0) {
        struct spawner *spawner = &all->list[all->count];
        spawner->all = all;
        rc = pthread_attr_setstack(&attributes, all->stacks + (size_t)all->count * STACK_SIZE,
                                   STACK_SIZE);
        if (rc == 0)
            rc = pthread_create(&spawner->thread, &attributes, live, spawner);
    }
    pthread_attr_destroy(&attributes);
    atomic_fetch_sub(&all->busy, count - all->count);
    return rc;
}

struct spawners *spawners_make(unsigned count) {
    struct spawners *all = calloc(1, sizeof *all + count * sizeof *all->list);
    if (!all)
        return NULL;
    all->stacks = mmap(NULL, (size_t)count * STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all->stacks == MAP_FAILED) {
        free(all);
        return NULL;
    }
    int rc = start(all, count);
    if (rc == 0)
        return all;
    munmap(all->stacks + (size_t)all->count * STACK_SIZE, (count - all->count) * STACK_SIZE);
    spawners_end(all);
    errno = rc;
    return NULL;
}

void spawners_end(struct spawners *all) {
    if (!all)
        return;
    spawners_wait(all);
    all->over = true;
    release(all);
    for (unsigned i = 0; i < all->count; i++)
        pthread_join(all->list[i].thread, NULL);
    if (all->count > 0)
        munmap(all->stacks, (size_t)all->count * STACK_SIZE);
    free(all);
}
