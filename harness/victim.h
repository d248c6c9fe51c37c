/*
 * A victim: a thread of the parent that does not spawn, and how long it stands still meanwhile. It
 * lives on its own from victim_make() to victim_end(), and is watched in between from victim_open()
 * to victim_close(). One thread does all four.
 */
#ifndef VICTIM_H
#define VICTIM_H

#include <stdint.h>

#include "cell.h"

enum { TICK_NS = 1000000 };

/* Standing still once, in ns; the last three together are the first. */
struct stall {
    int64_t ns;
    int64_t busy;    /* the victim itself had the CPU, in the kernel for instance */
    int64_t waiting; /* it could have run, and waited for a CPU */
    int64_t blocked; /* the rest: on a lock, late timers, time that a hypervisor took */
};

struct victim;

/*
 * NULL with errno: ENODEV without a second CPU to be away on, ENOTSUP where the kernel does not
 * tell of waiting (schedstat). The caller, and children that it has from now on, stay on one CPU
 * until victim_end() if it is to be beside or away.
 */
struct victim *victim_make(enum victim_kind, enum place);
void victim_end(struct victim *); /* NULL is fine */

/*
 * The first moment from now on when a tick is due `into` later, so that a window can be opened
 * which has one. Now, where the victim has no ticks.
 */
int64_t victim_aim(const struct victim *, int64_t into);
/* The first tick from a moment on, without which a window has none; that moment, without ticks. */
int64_t victim_due(const struct victim *, int64_t from);

void victim_open(struct victim *);

/*
 * The longest stall of those that began before `closed`, which was just now (CLOCK_MONOTONIC, ns),
 * and ended after victim_open(). Waits for one that is not over.
 */
struct stall victim_close(struct victim *, int64_t closed);

#endif
