/* The pipes of one child. Private. */
#ifndef FL_PIPE_H
#define FL_PIPE_H

#include "slot.h"

/* What a run feeds and captures, beside what the command asks for. */
struct fl_extra_pipes {
    bool input, output, errors; /* 0, 1, 2 */
    bool merged;                /* 2 is what 1 is */
};

/* Makes those that the command asks for, and those. An error is told, and what was made is the
 * slot's to close. */
int fl_pipes_open(forkless_child *, const struct fl_extra_pipes *, forkless_error *);
/* The ends that the child has by now. */
void fl_pipes_close_theirs(forkless_child *);
/* The ends that nobody has taken. */
void fl_pipes_close_ours(forkless_child *);

#endif
