/* Private. */
#ifndef FL_HANDLE_H
#define FL_HANDLE_H

#include "slot.h"

/* The handle's pidfd, opened when there is none yet; the caller holds the lock. Errors as
 * forkless_pidfd(). */
int fl_pidfd(forkless_child *child);

#endif
