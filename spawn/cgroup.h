/* Private. */
#ifndef FL_CGROUP_H
#define FL_CGROUP_H

#include "slot.h"

/*
 * Looks at the cgroup of the slot's command, which has one. 0: the child may be born in it. 1: it
 * must join it when it has memory of its own; where the cgroup is a path its folder is open then,
 * for that. Or why it can do neither, told.
 */
int fl_cgroup_look(forkless_child *, forkless_error *);

/* Keeps its folder open, for signals later. An error is told. */
int fl_cgroup_keep(forkless_child *, forkless_error *);

/* Signals (0: only asks) all that is in a cgroup and below it. -ESRCH: nobody is, or nobody was
 * left when it came to it. -EINVAL: the caller is. *found, unless it is NULL:
 * whether the one that is sought (0: nobody) got it. */
int fl_cgroup_signal(int folder, int signal, pid_t sought, bool *found);

#endif
