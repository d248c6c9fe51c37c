/* Where threads stop between two operations, so that what is lost can be counted. */
#ifndef GATE_H
#define GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed, over;
    int waiting;
};

#define GATE_INITIALIZER                                                                           \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* Waits while it is closed; false: it is all over. */
bool gate_pass(struct gate *);

void gate_close(struct gate *);
int gate_waiting(struct gate *);
void gate_open(struct gate *);
void gate_end(struct gate *);

#endif
