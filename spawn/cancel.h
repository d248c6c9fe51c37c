/* A thread cancelled half-way would leave a child that nobody knows, or keep a lock for ever.
 * Private. */
#ifndef FL_CANCEL_H
#define FL_CANCEL_H

#include <pthread.h>

struct fl_cancel {
    int type, state;
};

/*
 * Deferred as well as disabled: glibc (2.36) checks the state only where it sends its signal, so
 * one on its way would still end a thread whose type is asynchronous.
 */
static inline struct fl_cancel fl_cancel_hold(void) {
    struct fl_cancel before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

static inline void fl_cancel_release(struct fl_cancel before) {
    pthread_setcanceltype(before.type, &before.type);
    pthread_setcancelstate(before.state, &before.state);
}

#endif
