/* From what a child recorded to the error that its caller reads. Private. */
#ifndef FL_RECORD_H
#define FL_RECORD_H

#include "slot.h"

/* Fills *error, unless it is NULL, with what a child of this command recorded, and returns its
 * code. */
int fl_record_error(const struct fl_record *, const forkless_command *, forkless_error *error);

#endif
