/* Private. */
#ifndef FL_HANDLE_H
#define FL_HANDLE_H

#include "cancel.h"
#include "slot.h"

/* The handle's pidfd, opened when there is none yet; the caller holds the lock. Errors as
 * forkless_pidfd(). */
int fl_pidfd(forkless_child *child);

/* The lock, and no cancellation while it is held. */
struct fl_cancel fl_handle_lock(forkless_child *child);
void fl_handle_unlock(forkless_child *child, struct fl_cancel before);

#endif
