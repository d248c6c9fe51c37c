/* The request as data: what the setters build and the child reads. Private. */
#ifndef FL_COMMAND_H
#define FL_COMMAND_H

#include <stdatomic.h>

#include "call.h"
#include "descriptor.h"
#include "forkless.h"

struct fl_strings; /* memory that setters copy into; it never moves */

struct forkless_command {
    bool freed; /* by its owner; children may still need it */

    const char *program;
    bool searches;
    int program_fd; /* -1: none */
    char **argv;    /* ended by NULL at all times, as is envp */
    size_t argc, argv_room;
    char **envp;
    size_t envc, envp_room;

    struct fl_descriptors descriptors;
    struct fl_call *calls; /* by step, then by index */
    size_t call_count, call_room;
    int cgroup;              /* a descriptor; -1: the caller's, */
    const char *cgroup_path; /* unless there is a path */
    int user_namespace;      /* a descriptor; -1: the caller's */
    const char *helper;      /* what takes a child with memory of its own, or NULL */

    forkless_slow_hook slow_hook; /* NULL: none */
    int64_t slow_ns;
    void *slow_host;

    struct fl_strings *strings;

    int code; /* the first error of a setter, */
    const char *setter;
    int index;

    /* The owner's reference and one of each child that may still read the command. */
    atomic_uint references;
    _Atomic(struct fl_prepared *) prepared; /* made by the first use, which fixes the command */
    _Atomic(struct fl_own *) job;           /* for forkless-exec */
};

/* What the first use makes of it. */
struct fl_prepared {
    const char **programs; /* to be tried in turn, ended by NULL */
    const char *program[2];
    bool searches;
    struct fl_calls before, after; /* of the descriptors */
    struct fl_calls descriptors;   /* unless they are made for one child */
    bool shares_table;             /* until it is closed: nothing above stderr is kept */
    bool needs_mask;               /* the caller's, which the child changes before its last step */
    bool needs_parent;             /* the caller's process */
    struct {
        struct fl_calls before, after;
        int base;    /* its first descriptor */
        char **argv; /* of forkless-exec */
    } helped;        /* where forkless-exec may be needed */
    struct fl_call calls[];
};

/* ---- for setters ---- */

/* 0, or why nothing may be set: -EINVAL, -EBUSY. */
int fl_set_begin(const forkless_command *);
/* The answer of a setter; the first error sticks. */
int fl_set_end(forkless_command *, const char *setter, int index, int code);
/* A copy (of NULL: room) that lives as long as the command, aligned for anything; NULL: no memory.
 */
void *fl_copy(forkless_command *, const void *data, size_t size);
char *fl_copy_string(forkless_command *, const char *);
/* Appends to an array of strings that ends with NULL. 0 or -ENOMEM. */
int fl_append(char ***array, size_t *count, size_t *room, char *string);
/* Puts a call into its place, for the one of the same step and index if there is one. 0 or -ENOMEM.
 */
int fl_put(forkless_command *, const struct fl_call *);
/* The same for a step that there is once. */
int fl_put_only(forkless_command *, const struct fl_call *);
/* Takes out that of this step and index, or of all indices (-1). */
void fl_take_out(forkless_command *, enum forkless_step, int index);
bool fl_has(const forkless_command *, enum forkless_step);
/* The first call of a step, or NULL. */
const struct fl_call *fl_command_call(const forkless_command *, enum forkless_step);

/* ---- for starting ---- */

/* Fixes the command at its first use; from any thread. 0, -ENOMEM; -EBADF with *index: a `same` of
 * what is nothing. */
int fl_command_prepare(forkless_command *, int *index);
void fl_command_take(forkless_command *);
void fl_command_drop(forkless_command *);

/* The paths along which a program is searched for, ended by NULL; NULL: no memory. In one piece,
 * for free(). */
const char **fl_search(const char *program, char *const envp[]);

#endif
