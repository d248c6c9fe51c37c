/* What soak and the program that it starts agree on. */
#ifndef ACTOR_H
#define ACTOR_H

enum {
    LEASE_FD = 30, /* who lives on does so until this socket's other end is shut */
    ACTOR_USAGE = 89,
    ACTOR_NO_READER = 90,
    ACTOR_NO_INPUT = 91,
    ACTOR_NO_LEASE = 92,
    ACTOR_FORGOTTEN = 93,
    ACTOR_NO_FORK = 94,
    ACTOR_MISMATCH = 100, /* and the number of the expectation */
};

#endif
