/*
 * When things happened to a child, and the hook that is called when its start took too long.
 * Private.
 */
#ifndef FL_STAMPS_H
#define FL_STAMPS_H

#include "slot.h"

/* The kernel has made it. */
void fl_stamps_created(forkless_child *, int64_t asked);
/* It is started: calls the hook if that is due, where the caller was held. Without the lock. */
void fl_stamps_started(forkless_child *);
/* It has exec'd this moment, as who was held by it knows; or has some time ago. */
void fl_stamps_execed(forkless_child *);
void fl_stamps_seen_exec(forkless_child *);
/* It has ended: its status or record is settled. With the lock held. */
void fl_stamps_seen_end(forkless_child *);

/* When somebody should look because the hook is due by then; INT64_MAX: it is not. With the lock
 * held. */
int64_t fl_stamps_next(const forkless_child *);
/* Looks whether it has exec'd, and calls the hook if it is due. Without the lock. */
void fl_stamps_look(forkless_child *);
/* The same without the hook. */
void fl_stamps_see(forkless_child *);
/* Where there is a hook: the same as soon as the child has exec'd, has ended, or is late, or at the
 * deadline. Without the lock. */
void fl_stamps_watch(forkless_child *, int64_t deadline_ns);

#endif
