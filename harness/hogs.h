/* Hogs: programs of our own that do nothing but use a CPU each, so that spawns are measured on a
 * host that has other work. */
#ifndef HOGS_H
#define HOGS_H

#include <stdbool.h>
#include <stddef.h>

#include "cell.h"

struct hogs {
    struct forkless_child **list;
    size_t count;
};

/*
 * Starts one on each CPU that this process may use (LOAD_ALL), or on each but the first
 * (LOAD_OTHERS), and returns when each of them has run. They have its priority, are in groups of
 * their own and end with it. 0, or -errno with none left; -ETIMEDOUT: one did not get a CPU.
 */
int hogs_start(struct hogs *, uint64_t load);

/* Whether all of them still run. */
bool hogs_run(struct hogs *);

/* Ends and reaps them; none is fine. */
void hogs_end(struct hogs *);

/* The whole life of one. */
_Noreturn void hog_main(void);

#endif
