/* What starts the commands of a batch and sees them to their end: in the caller's calls, or in a
 * thread of the batch's own. Private. */
#ifndef FL_LAUNCHER_H
#define FL_LAUNCHER_H

#include <stdatomic.h>

#include "forkless.h"
#include "pack.h"

/* One command of a batch. It is in one list at a time. */
struct fl_task {
    struct fl_task *next, *previous; /* `previous` only among those that run */
    struct fl_task *older, *younger; /* among all of the batch */

    size_t index, first, count;
    void *host;
    forkless_command *command; /* a reference */
    forkless_run_options options;
    struct fl_arguments *arguments; /* of a pack, a reference; `count` of them, from `first` on */
    bool splits;                    /* if it fails */
    forkless_override override; /* which these point to, with what it points to behind the task */

    forkless_child *child; /* NULL: it does not run */
    int64_t deadline, due; /* when it is to be ended, looked at, without an event */
    int fd;                /* in the launcher's set; -1: none */
    bool seen;             /* its pidfd has said that it has ended */

    bool over, cancelled;
    enum forkless_answered answered;
    union {
        forkless_result result; /* of FORKLESS_RAN */
        forkless_error error;   /* of the others */
    };
};

struct fl_tasks { /* by `next` */
    struct fl_task *first, *last;
};

struct fl_launcher {
    int epoll;
    size_t at_once;
    int64_t deadline, each;
    struct fl_tasks waiting, over;
    struct fl_task *running;
    _Atomic size_t running_count, held_back;
    size_t cancelled;  /* all below this index are */
    atomic_bool asked; /* to stop launching, and to see why */
    int64_t due;       /* no task is due before */
    bool held;         /* one could not be started: none is before one ends, or before */
    int64_t retry;     /* this */
    int64_t gives_up;  /* when that has lasted long enough; 0: the last one was started */
};

void fl_tasks_add(struct fl_tasks *, struct fl_task *);
struct fl_task *fl_tasks_take(struct fl_tasks *); /* the first, or NULL */

/* 0, or -errno of its descriptor. */
int fl_launcher_open(struct fl_launcher *);
void fl_launcher_close(struct fl_launcher *);

/* One more that waits. */
void fl_launcher_add(struct fl_launcher *, struct fl_task *);
/* Starts what can be. */
void fl_launcher_launch(struct fl_launcher *);
/* When something is due without an event: a time, 0 for now, or FORKLESS_NEVER. */
int64_t fl_launcher_next(const struct fl_launcher *);
/* Waits for an event, at most so long, and does what is due. */
void fl_launcher_look(struct fl_launcher *, int64_t ns);
/* Whether it would start one more at once. */
bool fl_launcher_has_room(const struct fl_launcher *);
/* Those below this index are not started any more, or ended. */
void fl_launcher_cancel(struct fl_launcher *, size_t below);

#endif
