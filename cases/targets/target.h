/* What the harness expects of every target. */
#ifndef TARGET_H
#define TARGET_H

/* Its exit status: not one that a shell, a crash or a failed exec gives. */
enum { TARGET_STATUS = 42 };

/* A stamping target writes to its standard output, in one write, CLOCK_MONOTONIC in ns at its first
 * instruction. */
typedef unsigned long long target_stamp;

#endif
