/* Until nothing of ours shares the memory. */
#include "cancel.h"
#include "slot.h"

int forkless_quiesce(int64_t deadline_ns) {
    struct fl_cancel before = fl_cancel_hold();
    uint64_t last_birth = fl_slot_last_birth();
    forkless_child *slot;
    int rc = 0;
    for (uint32_t number = 1; rc == 0 && (slot = fl_slot_by_number(number)); number++)
        rc = fl_slot_await(slot, last_birth, deadline_ns);
    fl_slot_collect();
    fl_cancel_release(before);
    return rc;
}
