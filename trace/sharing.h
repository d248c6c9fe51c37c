/* How much of a family's memory is still shared, over time. */
#ifndef SHARING_H
#define SHARING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sums of what /proc/PID/smaps_rollup says of each process. */
struct sharing {
    double at;             /* seconds since the beginning */
    uint64_t processes;    /* those that could be read */
    uint64_t resident;     /* bytes, each process's own view */
    uint64_t proportional; /* what they really take: a page counts once */
    uint64_t shared;       /* of `resident`: mapped by others too */
    uint64_t copies;       /* made since the beginning */
};

struct sharings {
    struct sharing *list;
    size_t used, room;
};

/* Adds one process. */
void sharing_read(struct sharing *, pid_t pid);
void sharings_add(struct sharings *, const struct sharing *);
/* 0 to 100. */
double sharing_percent(const struct sharing *);

/* At most so many, the first and the last among them; the others are freed. */
void sharings_thin(struct sharings *, size_t most);

#endif
