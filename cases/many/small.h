/* A small static program of ours and the connection to it (small/). */
#ifndef SMALL_H
#define SMALL_H

#include <sched.h>
#include <sys/types.h>

struct small {
    pid_t pid;
    int connection; /* SOCK_SEQPACKET */
};

/* Starts `name` from `folder` with one argument or NULL, on these CPUs or NULL: all. 0 or -errno.
 */
int small_start(struct small *, const char *folder, const char *name, const char *argument,
                const cpu_set_t *cpus);
/* Ends the connection, and waits for the program's end by that. */
void small_end(struct small *);

#endif
