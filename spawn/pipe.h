/* The pipes of one child. Private. */
#ifndef FL_PIPE_H
#define FL_PIPE_H

#include "slot.h"

/* Makes those that the command asks for. An error is told, and what was made is the slot's to
 * close.
 */
int fl_pipes_open(forkless_child *, forkless_error *);
/* The ends that the child has by now. */
void fl_pipes_close_theirs(forkless_child *);
/* The ends that nobody has taken. */
void fl_pipes_close_ours(forkless_child *);

#endif
