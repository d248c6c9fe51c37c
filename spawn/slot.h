/*
 * A slot is what one child needs of our memory: a stack with a guard page, the record that it
 * writes, the word that the kernel clears, and the handle, so that a spawn allocates nothing.
 * Private.
 */
#ifndef FL_SLOT_H
#define FL_SLOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "forkless.h"

/* The child writes this and the parent reads it when the word is zero. */
struct fl_record {
    int code; /* -errno; 0: nothing failed */
    enum forkless_step step;
    int index;
};

struct forkless_child {
    /*
     * 1 from before the clone until the child has exec'd or ended, when the kernel makes it 0 and
     * wakes one waiter on it (CLONE_CHILD_CLEARTID). Until then stack, record and command are the
     * child's.
     */
    _Atomic uint32_t word;
    struct fl_record record;
    forkless_command *command; /* a reference; NULL: the slot has no child */

    enum forkless_mechanism mechanism;
    pid_t pid;

    pthread_mutex_t lock; /* of what follows: the pid is a stranger's once the child is reaped */
    atomic_int pidfd;     /* -1: none yet */
    bool reaped;
    forkless_status status;

    _Atomic uint32_t next; /* in a list of slots, by number */
    uint32_t number;       /* from 1 */
};

/* A slot without a child, its stack ending where the slot begins; or -ENOMEM, -EAGAIN and the like.
 */
int fl_slot_take(forkless_child **out);

/* Gives back a slot whose child is done with it, or that had none. */
void fl_slot_give(forkless_child *);

/* The same when its child may still need it: then it is given back when another is ended or taken.
 */
void fl_slot_end(forkless_child *);

/* False for a handle that came through a fork: its memory has been wiped. */
bool fl_slot_is_ours(const forkless_child *);

void *fl_slot_stack(forkless_child *);
enum { FL_STACK_SIZE = 16 * 1024 - 1024 };

/* Fills *error, unless it is NULL, with what the child recorded, and returns its code. */
int fl_record_error(const forkless_child *, forkless_error *error);

#endif
