/* Private. */
#ifndef FL_START_H
#define FL_START_H

#include "pipe.h"

/* As forkless_start_with(), for a run: with pipes, and in a group of its own (`leads`, otherwise as
 * the command has it; -EINVAL, step argument: it joins another). What is left to do is
 * fl_stamps_started(). */
int fl_start(const forkless_command *, const forkless_override *, const struct fl_extra_pipes *,
             bool leads, forkless_child **out, forkless_error *);

#endif
