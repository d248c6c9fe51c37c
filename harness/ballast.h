/* What makes the parent big: anonymous memory in 4 KiB pages. */
#ifndef BALLAST_H
#define BALLAST_H

#include <stdint.h>
#include <sys/types.h>

#include "cell.h"

/* Makes it, for the life of the process. 0 or -errno. */
int ballast_make(const struct ballast *);

struct resident {
    uint64_t rss, huge; /* bytes; `huge`: in transparent huge pages */
};

/* What the kernel says of a process (smaps_rollup). 0 or -errno. */
int resident_of(pid_t pid, struct resident *out);

/* NULL, or why a process with this memory does not have the ballast asked for, in `buffer`. */
const char *ballast_verify(const struct ballast *, const struct resident *found, char *buffer,
                           size_t size);

#endif
