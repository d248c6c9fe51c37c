/* Threads that use a handle while its owner does, too. */
#ifndef PARTNER_H
#define PARTNER_H

#include <semaphore.h>
#include <stdbool.h>

#include "forkless.h"

enum partner_work { PARTNER_WAITS, PARTNER_KILLS, PARTNER_ASKS, PARTNER_WORKS };

struct job {
    enum partner_work work;
    forkless_child *child;
    int rc; /* what it was told at the end */
    forkless_status status;
    forkless_error error;
    sem_t done;
    struct job *next;
};

void partners_start(int count);
void partners_end(void);
/* The handle must not be freed before the job is over. */
void partner_begin(struct job *);
void partner_end(struct job *);

#endif
