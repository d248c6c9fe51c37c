/* Private. */
#ifndef FL_START_H
#define FL_START_H

#include "pack.h"
#include "pipe.h"

/* What a run asks for beside its command. */
struct fl_start {
    const forkless_override *override; /* or NULL */
    struct fl_extra_pipes pipes;
    bool leads; /* a group of its own, otherwise as the command has it; -EINVAL, step argument: it
                   joins another */
    bool kept;  /* the command has a reference, and may have been freed */
    struct fl_arguments *arguments; /* more, behind those of the override: `count` from `first` on;
                                       or NULL */
    size_t first, count;
    bool pidfd; /* with the child, where the caller is not held; -EMFILE, -ENFILE, step clone */
};

/* As forkless_start_with(). What is left to do is fl_stamps_started(). */
int fl_start(const forkless_command *, const struct fl_start *, forkless_child **out,
             forkless_error *);

#endif
