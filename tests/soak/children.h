/* The children of the process, thread by thread, as /proc tells. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of one thread; how many of them are in `pids`. */
size_t children_of(pid_t thread, pid_t *pids, size_t size);
/* Prints each child of the process, whatever its state; returns how many there are. */
int children_print(void);
/* Kills them, and what is in the cgroups. */
void children_end_all(void);

/* One for each worker, below the root of version 2, where that can be had; else false, with the
 * reason. */
struct worker;
bool cgroups_make(struct worker *workers, int count, const char **reason);
void cgroups_remove(void);

#endif
