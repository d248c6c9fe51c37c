/* What one child has differently from its command, its pipes among it. Private. */
#ifndef FL_OVERRIDE_H
#define FL_OVERRIDE_H

#include "slot.h"

/* Sets what the child of this slot reads: its arguments and the calls for its descriptors. The
 * override may be NULL. An error is told. */
int fl_override(forkless_child *, const forkless_override *, forkless_error *);

#endif
