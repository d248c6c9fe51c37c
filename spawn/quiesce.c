/*
 * The kernel wakes one waiter when it clears a word, by a futex that is shared: whoever is woken
 * wakes the others.
 */
#include <errno.h>
#include <limits.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "slot.h"

/* 0 when the slot's child needs our memory no more, or was born after the last one that counts. */
static int await(forkless_child *slot, uint64_t last_birth, int64_t deadline_ns) {
    uint32_t word;
    while ((word = atomic_load(&slot->word)) != 0 && atomic_load(&slot->birth) <= last_birth) {
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0)
            return -ETIMEDOUT;
        struct timespec timeout = fl_timespec(ns);
        fl_syscall(SYS_futex, (long)&slot->word, FL_FUTEX_WAIT, word, (long)&timeout, 0);
        fl_syscall(SYS_futex, (long)&slot->word, FL_FUTEX_WAKE, INT_MAX, 0, 0);
    }
    return 0;
}

int forkless_quiesce(int64_t deadline_ns) {
    struct fl_cancel before = fl_cancel_hold();
    uint64_t last_birth = fl_slot_last_birth();
    forkless_child *slot;
    int rc = 0;
    for (uint32_t number = 1; rc == 0 && (slot = fl_slot_by_number(number)); number++)
        rc = await(slot, last_birth, deadline_ns);
    fl_slot_collect();
    fl_cancel_release(before);
    return rc;
}
