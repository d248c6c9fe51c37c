/* One creation of a process, put together from what the kernel told of it. */
#ifndef CREATION_H
#define CREATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "phases.h"
#include "spawns.h"
#include "trail.h"

/* A child that has neither exec'd nor ended for so long runs on. */
#define RUNS_ON_NS INT64_C(1000000000)

/* What the child did first. */
enum then {
    THEN_UNKNOWN, /* the trace ended too soon, or lost something */
    THEN_FAILED,  /* there is no child: `error` */
    THEN_EXEC,    /* of `path` */
    THEN_EXIT,    /* with `status`; had it tried to exec, `path` and `exec_error` say so */
    THEN_RUNS_ON, /* it did neither, for RUNS_ON_NS at least */
    THENS
};

struct creation {
    uint64_t id;
    int64_t asked, call; /* CLOCK_MONOTONIC; how long the caller was held; ns */
    uint64_t flags;      /* CLONE_... */
    enum spawn_call how;
    uint64_t rss, page_tables; /* of the caller when the call returned, like the next two; bytes */
    unsigned mappings, threads;
    pid_t pid, tid, child;
    int error;         /* errno */
    bool caller_ended; /* in the call */
    char name[SPAWN_NAME], thread[SPAWN_NAME];
    const struct trail *trail; /* who called; NULL: unknown, */
    const char *no_trail;      /* because of this */

    enum then then;
    int64_t when; /* it did that; CLOCK_MONOTONIC ns */
    int status;   /* as from wait(2) */
    int exec_error;
    char path[SPAWN_PATH];

    struct phases_record phases; /* what is known of them; all 0: nothing */
    bool phases_end;             /* nothing more will be */

    bool told; /* that it was created; else only `then` is known as yet */
    bool shown, counts;
    struct creation *next, *older, *newer; /* of creations.c */
};

/* It copied its caller's memory; else it shares it until its exec. */
bool creation_is_fork(const struct creation *);
/* The same in a word: "fork", "vfork-class". */
const char *creation_kind(const struct creation *);
/* The system call. */
const char *creation_call(const struct creation *);
/* Whether the child executed something, or tried to. */
bool creation_execs(const struct creation *);
/* Whether it ran on without an exec, even if it has ended since. */
bool creation_runs_on(const struct creation *);
/* Its flags as "VM|VFORK". */
void creation_flags(const struct creation *, char *out, size_t size);
/* What the child did, or that there is none: "exec /bin/true". */
void creation_then(const struct creation *, char *out, size_t size);

#endif
