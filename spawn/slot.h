/*
 * A slot is what one child needs of our memory: a stack with a guard page, the record that it
 * writes, the word that the kernel clears, room for what it has differently from its command, and
 * the handle, so that a spawn allocates nothing. Private.
 */
#ifndef FL_SLOT_H
#define FL_SLOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "forkless.h"
#include "pack.h"
#include "vdso.h"

enum { FL_EXTRA_PIPES = 3 /* a run's own */ };

/* The child writes this and the parent reads it when the word is zero. */
struct fl_record {
    int code; /* -errno; 0: nothing failed */
    enum forkless_step step;
    int index, from;
    const char *subject;
};

struct fl_pipe {
    int child_fd;
    int theirs; /* the child's end; -1 as soon as the child has it */
    atomic_int ours;
};

/* Of a child that executes forkless-exec first. */
struct fl_helped {
    bool used;
    bool reached;          /* it has said that it would execute the target, */
    bool told;             /* or why not: that is in the record */
    bool past;             /* it was seen executing something else */
    int base, count;       /* its descriptors in the child */
    struct fl_role *roles; /* of them */
    int program, job;      /* which stay open */
    int cgroup;            /* opened for this child; -1: none */
    int theirs;            /* the pipe's end for reports; -1 as soon as the child has it */
    atomic_int ours;
};

/* On CLOCK_MONOTONIC; 0: not known. */
struct fl_stamps {
    int64_t asked, created;              /* before anybody has the handle */
    _Atomic int64_t set_up, exec_called; /* by the child */
    _Atomic int64_t execed, exited;
    atomic_bool exact; /* `execed` is when it did, not when somebody found that it had */
    atomic_bool told;  /* the slow-start hook was called */
};

struct forkless_child {
    /*
     * Not 0, and another with each child, from before the clone until the child has exec'd or
     * ended, when the kernel makes it 0 and wakes one waiter on it (CLONE_CHILD_CLEARTID). Until
     * then stack, record and command are the child's.
     */
    _Atomic uint32_t word;
    struct fl_record record;
    forkless_command *command; /* a reference; NULL: the slot has no child */

    /* What the child reads beside the command. */
    const struct fl_prepared *prepared;
    struct fl_calls before, descriptors, after;
    char *const *argv;
    struct fl_arguments *arguments; /* of a pack, a reference, or NULL; */
    size_t argument_first, argument_count;
    char **argv_of_pack; /* which has them; to be freed */
    int program_fd;      /* that is executed first; -1: none */
    pid_t parent;        /* for a death signal */
    uint64_t mask;       /* the caller's */
    fl_clock *clock;     /* NULL: it cannot tell the time */
    bool shares_table;
    int cgroup;       /* that it is born in; -1: its parent's */
    bool makes_group; /* before all else */
    bool opens_pidfd; /* is born with one, where its caller is not held */
    enum forkless_mechanism mechanism, asked;

    _Atomic uint64_t birth; /* of its child, among all of the process */
    atomic_bool held;       /* somebody has the handle */
    pid_t pid;
    bool leads_group; /* its own, as soon as it has set itself up */
    int cgroup_kept;  /* where it is, for signals; -1: nowhere of the command's */
    struct fl_stamps stamps;
    _Atomic(void *) host;
    unsigned pipe_count;
    struct fl_pipe pipes[FORKLESS_PIPES + FL_EXTRA_PIPES];
    struct fl_helped helped;
    struct fl_run *run; /* or NULL */
    bool unknown;       /* to the host, which can not reap it */
    size_t room_used;
    bool room_open;

    pthread_mutex_t lock; /* of what follows: the pid is a stranger's once the child is reaped */
    atomic_int pidfd;     /* -1: none yet */
    bool reaped;
    bool has_no_pidfd; /* for event loops */
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

/* Gives back those that were ended and whose children are done with them by now. */
void fl_slot_collect(void);

/* False for a handle that came through a fork: its memory has been wiped. */
bool fl_slot_is_ours(const forkless_child *);
/* False for NULL and for a handle that was freed, as long as no other child has its slot. */
bool fl_slot_is_held(const forkless_child *);

/* Room in the slot, for one child: to be opened first (0, -ENOMEM); aligned for anything; NULL:
 * there is not so much. */
int fl_slot_open_room(forkless_child *);
void *fl_slot_room(forkless_child *, size_t size);

/* Numbers the child that the slot is to have, and says the last number that there was. */
void fl_slot_number_birth(forkless_child *);
uint64_t fl_slot_last_birth(void);
/* What its word is until its child is past its exec. */
uint32_t fl_slot_busy_word(const forkless_child *);

/* Until the slot's child is past its exec or gone, or was born after the last one that counts: 0,
 * or -ETIMEDOUT. */
int fl_slot_await(forkless_child *, uint64_t last_birth, int64_t deadline_ns);

/* Every slot that was ever taken, by numbers from 1; NULL: no more. */
forkless_child *fl_slot_by_number(uint32_t number);

/* Memory that a fork's child finds wiped, to be unmapped; NULL with errno. */
char *fl_map_wiped(size_t size, int protection);

void *fl_slot_stack(forkless_child *);
enum { FL_STACK_SIZE = 16 * 1024 - 1024 };

#endif
