/* One child, by the mechanism of its slot or by what the kernel has in its place. Private. */
#ifndef FL_CREATE_H
#define FL_CREATE_H

#include "slot.h"

/* The pid, or -errno. Where the caller was held the child has exec'd by then, or its record says
 * why not. */
long fl_create(forkless_child *);

#endif
