/* A thread that does one random operation after the other, and what was done to its children. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "random.h"

struct worker {
    int number, threads;
    uint64_t seed;
    pthread_t thread;
    _Atomic pid_t id;
    struct random random;
    sigset_t mask;
    int cgroup; /* -1: none */
    char cgroup_path[256], cgroup_name[64];
    int unknown; /* children that were not dead a grace after SIGKILL */

    pthread_mutex_t lock; /* held by whoever kills at random, so that it knows whose child it is */
    bool exposed;
    uint64_t hits; /* the signals that this operation's children may have got, as bits */

    atomic_long operation;
    _Atomic int64_t since; /* when it began; 0: none is going on */
    char doing[1024];      /* what, for the report of a failure */
};

/* Of one operation: from here to there its children may be hit, if it is exposed. */
void worker_begin(struct worker *, bool exposed);
void worker_end(struct worker *);
/* This operation's own signal, before it is sent. */
void worker_hit(struct worker *, int signal);
bool worker_was_hit(struct worker *, int signal);
/* Adds to what it is doing. */
void worker_says(struct worker *, const char *format, ...) __attribute__((format(printf, 2, 3)));

int64_t now_ns(void);
void nap_us(long microseconds);

/* Prints what is wrong, with the seed and the operation, ends all children and the process. The
 * worker may be NULL. */
_Noreturn void wrong(const struct worker *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of a call that only fails when the test itself is broken. */
#define MUST(x) ((x) ? (void)0 : wrong(NULL, "%s:%d: %s: %m", __FILE__, __LINE__, #x))

#endif
