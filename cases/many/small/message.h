/*
 * What the server and its client say to each other, on one SOCK_SEQPACKET connection. A message is
 * one command: this header, the numbers that its descriptors get in the child, then the program,
 * the arguments behind argument 0 (the program) and the variables, each with its NUL. The
 * descriptors come along as SCM_RIGHTS; those of the first message, which has no program, are the
 * page of places.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

/* The child's numbers are below LOWEST_FD, those in the server not. */
enum { LOWEST_FD = 64 };

enum { MESSAGE_BYTES = 128 * 1024, MESSAGE_STRINGS = 4096, MESSAGE_FDS = 16, PLACES = 1024 };

struct message {
    uint16_t place, arguments, variables, descriptors;
};

/* Of one child, in memory that client and server share: none of them is ever unknown. */
struct place {
    /* 0; then its process id, which the kernel writes when it makes the child
     * (CLONE_PARENT_SETTID), or what made that fail, as -errno. Changes are woken by futex. */
    int32_t pid;
    int32_t exec; /* 0, or what made exec fail, as -errno: written by the child */
};

#endif
