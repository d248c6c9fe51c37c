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

/* For chunks of samples of one cell. */
struct request {
    const char *target, *programs; /* paths; of the folder of many/small */
    unsigned children;             /* that live together at most */
    const struct attribute *attribute;
    unsigned commands; /* of a sample; 1: by body and finish */
};

/* Commands by the hundred, not each by its own call. The harness times all but `wait`. */
struct many {
    int (*begin)(unsigned commands, unsigned at_once); /* 0 or -errno, as all */
    int (*give)(void);                                 /* hands over one more */
    int (*wait)(void);                                 /* until collect has something to do */
    /* Adds how many more have ended, and how many of these not as they should. */
    int (*collect)(unsigned *ended, unsigned *wrong);
    void (*end)(void); /* NULL: nothing to do. Also after a failure */
};

struct strategy {
    const char *name;
    bool copies; /* the parent's memory, as fork does: dear in a big parent, and it slows what comes
                    after it */
    bool is_worker;      /* its child executes nothing */
    bool has_attributes; /* it takes others than `none` (attributes.h) */
    bool captures;       /* what the child writes; its body ends when the child has been reaped */

    bool keeps;      /* a descriptor for each child that lives */
    bool has_thread; /* of its own in the parent, which starts the children */
    unsigned most;   /* children that live together; 0: as many as are asked for */
    bool loops;      /* each child is started by a small process of its own */
    bool sends;      /* takes those attributes that `server` sends */

    /* 0 or -errno; NULL: nothing to do. */
    int (*prepare)(const struct request *);
    /* Starts one child, with argument 0 only and the caller's environment. 0 or -errno. NULL: an
     * empty body. Several threads may start and wait for children of their own at the same time,
     * but where there is `elsewhere`. */
    int (*body)(struct born *);
    /* Waits for it and reaps it. 0 or -errno. */
    int (*finish)(struct born *, struct ended *);
    /* Where that is not born->pid. 0: the child is not born yet. */
    pid_t (*pid)(const struct born *);
    /* Instead of one after the other by body and finish, where a sample has many commands. */
    const struct many *many;
    /* Processor time, ns, of others than the calling thread and its children, since prepare;
     * NULL: there are none. */
    int64_t (*elsewhere)(void);
    /* Frees the output, which the harness has looked at; NULL: there is none. */
    void (*release)(struct born *);
    void (*cleanup)(void);
};

/* The null cell's does not. */
static inline bool strategy_starts(const struct strategy *strategy) {
    return strategy->body || strategy->many;
}

/* NULL when there is none of this name. */
const struct strategy *strategy_find(const char *name);
extern const char *const strategy_names[];
extern const size_t strategy_count;

extern const struct strategy strategy_null;
extern const struct strategy strategy_floor_vm, strategy_floor_vfork;
extern const struct strategy strategy_fork, strategy_fork_only, strategy_vfork,
    strategy_posix_spawn, strategy_clone3;
extern const struct strategy strategy_forkless_spawn, strategy_forkless_start;
extern const struct strategy strategy_forkless_run, strategy_posix_spawn_read;
extern const struct strategy strategy_server, strategy_limit, strategy_limit_pinned;
extern const struct strategy strategy_forkless_batch, strategy_forkless_batch_thread;

#endif
