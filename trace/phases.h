/* What phases.bpf.c tells of each creation of a process: when each thing happened. */
#ifndef PHASES_H
#define PHASES_H

#ifdef __bpf__
#include <linux/types.h>
#else
#include <asm/types.h>
#endif

/* In the order in which they come, but for the last: a caller with VFORK returns about when its
 * child execs, another one at any time after the creation. */
enum moment {
    MOMENT_ASKED,       /* the system call begins */
    MOMENT_CREATED,     /* there is a child */
    MOMENT_RAN,         /* it has a CPU for the first time */
    MOMENT_BEGAN,       /* its first instruction: it begins its set-up */
    MOMENT_EXEC_CALLED, /* its first exec that succeeds begins */
    MOMENT_EXECED,      /* the kernel has replaced the program */
    MOMENT_READY,       /* the first instruction of the target */
    MOMENT_EXITED,
    MOMENT_REAPED,   /* the wait that took its status returns */
    MOMENT_RETURNED, /* to the caller */
    MOMENTS
};

/* When a child has been reaped, or its last trace has vanished. */
struct phases_record {
    __u64 id;            /* of the creation, as in spawns.h */
    __u64 when[MOMENTS]; /* CLOCK_MONOTONIC, ns; 0: it did not happen, or was not seen */
    __u64 waited;        /* ns from its creation to its exec or end in which it could have run and
                            had no CPU */
    __u64 runnable;      /* since when it is in that state now; 0: it is not */
};

/* Why there are fewer records than creations. */
struct phases_lost {
    __u64 records; /* the ring was full */
    __u64 entries; /* a map was full */
};

#endif
