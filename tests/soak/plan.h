/* A random command, and all that may come of it. */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forkless.h"
#include "worker.h"

enum behaviour {
    EXITS,
    NAPS,
    WRITES,
    COPIES,
    CLOSES, /* its outputs, and lives on for a while */
    SIGNALS_ITSELF,
    STOPS_ITSELF,
    LIVES, /* this and what follows: until its lease ends */
    STUBBORN,
    TREE,
    LEAVES, /* a child of its own behind, which holds its outputs */
    DAEMON,
    ENDLESS,
};

struct reason {
    int code;
    enum forkless_step step;
    int index;
};

struct plan {
    forkless_command *command;
    bool for_run; /* who feeds and reads it is the library */

    struct reason reason; /* why it fails; code 0: it does not */
    enum behaviour behaviour;
    int code, signal; /* how it ends if nobody ends it */
    uint64_t stream;
    size_t output, errors; /* what it writes */
    bool merged, piped, own_group, in_cgroup, helped;
    bool may_lose_reader, sigpipe_ignored;

    int lease; /* our end; -1: it needs none */
    int theirs;
    bool override;
    const char *arguments[6]; /* of the override */
    char texts[6][24];
    int expectations;
    char expectation[32][80]; /* what its exit status 100 and more means */
    int descriptors;          /* that it is to have */
};

/* Once, before all others. NULL, or why children cannot have another user. */
const char *plan_prepare(const char *actor, bool *have_users);

void plan_make(struct worker *, struct plan *, bool for_run);
/* The attributes, in attributes.c: at most so many. */
void plan_attributes(struct worker *, struct plan *, unsigned most);
/* What the child is to find; it looks. */
void plan_expect(struct plan *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Of a setter, which may not fail. */
#define SET(w, call) plan_set((w), (call), #call)
void plan_set(const struct worker *, int rc, const char *call);

/* To be called when its children have been started. */
void plan_started(struct plan *);
/* Lets those go who live as long as their lease, and waits until all of them are gone, with all
 * that they left. */
void plan_end(struct worker *, struct plan *);
/* They are gone already, or will be at once: somebody has killed them all. */
void plan_check_gone(struct worker *, struct plan *);

/* What a call said of a child; fails if that is not possible. */
void plan_check(struct worker *, struct plan *, int rc, const forkless_status *,
                const forkless_error *);
/* The same of a raw status, of one whose handle is gone. */
void plan_check_raw(struct worker *, struct plan *, int status);
/* Part or all of an output, from its beginning. */
void plan_check_stream(struct worker *, const struct plan *, const char *what,
                       const unsigned char *bytes, size_t size, bool errors);

/* ---- what all share ---- */

struct shared {
    const char *actor;
    char folder[256], no_interpreter[300], no_format[300];
    int actor_fd, zero, root;
    unsigned long ignored; /* by the whole process */
    bool users;            /* children may have others */
};
extern struct shared shared;

/* Nobody copies the environment while another changes it. */
extern pthread_rwlock_t environment_lock;

#endif
