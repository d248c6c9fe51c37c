/*
 * What is measured. A strategy is one way to start a program: a description, prepare, body, finish,
 * cleanup. The harness owns the clock: it times `body` (the caller is held) and `finish` (until the
 * child is reaped), and nothing else.
 */
#ifndef CASE_H
#define CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct ended {
    int status; /* as wait4 gives it */
    struct rusage usage;
    const char
        *unsupported; /* NULL, or what this host did not allow, so that the figure is another's */
};

/* A child that was started; `data` is the strategy's. */
struct born {
    pid_t pid;
    void *data;
    /* Of a strategy that captures: what the child wrote to its standard output, and how it ended.
     */
    char *output;
    size_t output_size;
    struct ended ended;
};

struct attribute;

struct strategy {
    const char *name;
    bool copies; /* the parent's memory, as fork does: dear in a big parent, and it slows what comes
                    after it */
    bool has_attributes; /* it takes others than `none` (attributes.h) */
    bool captures;       /* what the child writes; its body ends when the child has been reaped */

    /* For at most `children` alive together. 0 or -errno; NULL: nothing to do. */
    int (*prepare)(const char *target, unsigned children, const struct attribute *);
    /* Starts one child, with argument 0 only and the caller's environment. 0 or -errno. NULL: an
     * empty body. Several threads may start and wait for children of their own at the same time. */
    int (*body)(struct born *);
    /* Waits for it and reaps it. 0 or -errno. */
    int (*finish)(struct born *, struct ended *);
    /* Frees the output, which the harness has looked at; NULL: there is none. */
    void (*release)(struct born *);
    void (*cleanup)(void);
};

/* NULL when there is none of this name. */
const struct strategy *strategy_find(const char *name);
extern const char *const strategy_names[];
extern const size_t strategy_count;

extern const struct strategy strategy_null;
extern const struct strategy strategy_floor_vm, strategy_floor_vfork;
extern const struct strategy strategy_fork, strategy_vfork, strategy_posix_spawn, strategy_clone3;
extern const struct strategy strategy_forkless_spawn, strategy_forkless_start;
extern const struct strategy strategy_forkless_run, strategy_posix_spawn_read;

#endif
