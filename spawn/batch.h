/* A batch: its caller's side, and what is between that and its thread. Private. */
#ifndef FL_BATCH_H
#define FL_BATCH_H

#include <pthread.h>

#include "launcher.h"

/* The launcher's side of a thread; lists are stacks, the last one first. */
struct fl_thread {
    pthread_t id;
    int wake, news; /* eventfds: for the thread, for the caller */
    _Atomic(struct fl_task *) handed, done;
    _Atomic size_t cancelled; /* all below this index are */
    atomic_bool hungry;       /* it sleeps, and would start one more */
    atomic_bool stops;
};

/* In pages of its own, which a fork's child finds wiped. */
struct forkless_batch {
    bool lives;
    enum forkless_batch_mode mode;
    bool in_order;
    forkless_on_answer on_answer;
    void *host;

    struct fl_launcher launcher; /* with a thread its own */
    struct fl_thread thread;

    struct fl_task *oldest, *youngest; /* of those that are not answered */
    size_t count;
    struct fl_tasks ready; /* over, unless they are to be in order */
    size_t over;
    size_t next_index, answered;
    size_t cancelled;      /* all below this index are */
    bool answering, freed; /* on_answer runs, and has freed the batch */
};

int fl_batch_check(const forkless_batch *);
/* One that is not in the batch yet; NULL: no memory. */
struct fl_task *fl_batch_task(forkless_batch *, const forkless_command *,
                              const forkless_run_options *);
void fl_batch_task_free(struct fl_task *);
/* Behind `older` (NULL: the first): to wait for its turn, or with its answer. */
void fl_batch_put(forkless_batch *, struct fl_task *task, struct fl_task *older);
void fl_batch_hand_over(forkless_batch *, struct fl_task *);

/* ---- pack.c ---- */

/* Of one that is over: whether there are two in its place, which wait. */
bool fl_pack_split(forkless_batch *, struct fl_task *);

/* ---- batch_thread.c ---- */

int fl_thread_begin(forkless_batch *);
void fl_thread_end(forkless_batch *);
void fl_thread_hand_over(forkless_batch *, struct fl_task *);
/* What is over by now, in the order in which it came about. */
struct fl_tasks fl_thread_take(forkless_batch *);
void fl_thread_cancel(forkless_batch *, size_t below);

#endif
