/* Private. */
#ifndef FL_KILL_H
#define FL_KILL_H

#include <errno.h>

#include "slot.h"

/* No pidfd to be had, or a filter that knows no such call; if it is a real error, kill(2) will say
 * so again. */
static inline bool fl_kill_is_refusal(long rc) {
    return rc == -ENOSYS || rc == -EPERM || rc == -EINVAL;
}

/* As forkless_kill(); the caller holds the handle's lock. */
int fl_kill(forkless_child *child, int signal, enum forkless_whom whom);

/* Whether the group can be signalled when the child has been reaped. With the lock held. */
bool fl_kill_outlives_reaping(forkless_child *child);

/* Whether any of them is there, or it cannot be told; of its group that is true as long as the
 * child has not been reaped. With the lock held. */
bool fl_kill_finds_any(forkless_child *child, enum forkless_whom whom);

#endif
