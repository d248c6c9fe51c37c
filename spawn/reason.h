/* Private. */
#ifndef FL_REASON_H
#define FL_REASON_H

#include <stddef.h>

/*
 * Why executing this file failed with `code` (-errno), where a look at it tells more than the
 * errno: one clause without a capital or a full stop, such as "its interpreter /lib/ld-nope.so.2 is
 * missing"; else "". A name that is too long keeps its end, and may hold anything.
 *
 * Called in the parent, after the fact, with its working directory and user. A path that is
 * relative means nothing here if the child had a working directory of its own.
 */
void fl_reason(const char *path, int code, char *reason, size_t size);

#endif
