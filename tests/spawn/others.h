/* What other threads do while a test spawns, until `done`. */
#ifndef OTHERS_H
#define OTHERS_H

#include <stdatomic.h>

extern atomic_bool done;

/* Bodies of threads; the argument is given back. */
void *allocate(void *unused);
void *change_environment(void *unused);
void *fork_and_system(void *unused);
/* Kills every child of the process that it sees; between two looks it waits so many microseconds,
 * unless that is NULL. */
void *kill_children(void *microseconds);

#endif
