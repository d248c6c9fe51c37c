/* Threads that make trouble meanwhile. */
#ifndef TROUBLE_H
#define TROUBLE_H

#include "gate.h"
#include "worker.h"

struct trouble {
    struct gate *gate;
    struct worker *workers;
    int count;
    uint64_t seed;
};

/* Kills and stops children of exposed operations, wherever they are: before their exec, too. What
 * it stopped goes on a little later. */
void *trouble_kill(void *trouble);
/* Forks and waits: such a child holds every descriptor for a moment. */
void *trouble_fork(void *trouble);
/* Allocates, changes the environment, opens and closes. */
void *trouble_allocate(void *trouble);

enum { TROUBLES = 3 };

#endif
