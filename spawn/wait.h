/* Private. */
#ifndef FL_WAIT_H
#define FL_WAIT_H

#include <poll.h>

#include "slot.h"

enum { FL_NAP_NS = 2000000 }; /* between two looks where there is no pidfd to wait for */

/* At most so long. */
void fl_nap(int64_t ns);

/* poll(2), at most so long. Under a filter that refuses it everything may be there after a nap. */
void fl_look(struct pollfd *, size_t count, int64_t ns);

/* Whether it has ended, or is nobody's to wait for any more; a zombie stays one. */
bool fl_has_ended(const forkless_child *);

/* Whether it is past its exec, of the target, and not reaped yet; with the lock held. */
bool fl_has_execed(forkless_child *);

/* Reaps a child that has ended, unless that is done, and notes how it did; with the lock held. */
void fl_settle(forkless_child *);
/* The same of one whose pidfd says that it has ended. False: a tracer has still to see that. */
bool fl_settle_if_seen(forkless_child *);

/* What forkless_wait() says of a child that is settled. */
int fl_verdict(const forkless_child *, forkless_status *, forkless_error *);

#endif
