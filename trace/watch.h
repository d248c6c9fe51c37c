/* Follows a family of processes, and gathers their copies. */
#ifndef WATCH_H
#define WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "copies.h"

struct watching {
    pid_t pid;            /* that is there already; 0: */
    char **command;       /* to be started */
    uint64_t duration_ns; /* 0: until the last process of the family has ended */
    uint64_t interval_ns; /* between two looks at what is shared */
};

/* OK, INTERRUPTED (what was seen until then is there), or a complaint. `stacks` has to outlive what
 * is found. */
int watch(const struct watching *, struct stacks *stacks, struct copies *found);

#endif
