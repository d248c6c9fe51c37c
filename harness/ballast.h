/* What makes the parent big: memory of a kind, and mappings. */
#ifndef BALLAST_H
#define BALLAST_H

#include <stdint.h>
#include <sys/types.h>

#include "cell.h"

/* Makes it, once and for the life of the process. 0 or -errno. */
int ballast_make(const struct ballast *);

/* Writes to each of its pages, or of its blocks where it is a heap. */
void ballast_rewrite(void);

/* Leaves it out of every copy of this process from now on, or no longer, and asks the kernel
 * whether it does. 0 or -errno; nothing to do where there is none or it is a heap. */
int ballast_leave_out(bool);

/* Whether the kernel has this flag (smaps: " dc ") for the mapping of this process at a place. */
bool has_flag(const void *place, const char *flag);

struct resident { /* bytes */
    uint64_t rss;
    uint64_t huge;        /* of it in transparent huge pages, */
    uint64_t shared;      /* and in shared memory or a memory file */
    uint64_t hugetlb;     /* beside it */
    uint64_t page_tables; /* that map it */
    uint64_t mappings;
};

/* What the kernel says of a process (smaps_rollup, status, and of its mappings where they are asked
 * for). 0 or -errno. */
int resident_of(pid_t pid, bool mappings, struct resident *out);

/* NULL, or why a process with this memory does not have the ballast asked for, in `buffer`. */
const char *ballast_verify(const struct ballast *, const struct resident *found, char *buffer,
                           size_t size);

#endif
