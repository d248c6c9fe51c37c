#include <errno.h>
#include <string.h>

#include "operations.h"

enum { PLANS = 3, CHILDREN = 3, FULL = PLANS * CHILDREN + 3 };

static void launch_some(struct worker *w, struct plan *p, struct held *held, int *n) {
    for (unsigned i = 1 + below(&w->random, CHILDREN); i > 0; i--) {
        held[*n] = (struct held){.plan = p};
        *n += held_launch(w, &held[*n]);
    }
    plan_started(p);
    if (chance(&w->random, 30)) {
        forkless_command_free(p->command);
        p->command = NULL;
    }
}

/* One that has ended, or just one of them. */
static struct held *choose(struct worker *w, struct held *held, int n) {
    forkless_child *children[PLANS * CHILDREN];
    size_t which;
    for (int i = 0; i < n; i++)
        children[i] = held[i].child;
    int rc = -ETIMEDOUT;
    if (chance(&w->random, 40))
        rc = forkless_wait_any(children, (size_t)n,
                               forkless_deadline_in(below(&w->random, 2000000)), &which);
    if (rc == -ETIMEDOUT)
        return &held[below(&w->random, (unsigned)n)];
    if (rc != 0 || which >= (size_t)n)
        wrong(w, "wait_any: %d, %zu of %d", rc, which, n);
    if (forkless_wait(held[which].child, 0, NULL, NULL) == -ETIMEDOUT)
        wrong(w, "wait_any says that it has ended, wait that it has not");
    held[which].answered = true;
    return &held[which];
}

/* The answered one's place goes to the last. */
static void finish_some(struct worker *w, struct held *held, int *n, int down_to) {
    while (*n > down_to) {
        struct held *h = choose(w, held, *n);
        held_finish(w, h);
        *h = held[--*n];
    }
}

void operation_children(struct worker *w) {
    struct plan plans[PLANS];
    struct held held[PLANS * CHILDREN];
    int n = 0, count = 1 + (int)below(&w->random, PLANS);
    for (int i = 0; i < count; i++) {
        plan_make(w, &plans[i], false);
        launch_some(w, &plans[i], held, &n);
        if (chance(&w->random, 30))
            finish_some(w, held, &n, (int)below(&w->random, (unsigned)n + 1));
    }
    finish_some(w, held, &n, 0);
    for (int i = 0; i < count; i++)
        plan_end(w, &plans[i]);
}

atomic_int filled;

static void plan_of_the_fullest(struct worker *w, struct plan *p) {
    for (;;) {
        w->doing[0] = '\0';
        plan_make(w, p, false);
        if (p->behaviour == LIVES && p->override && !p->reason.code)
            return;
        plan_end(w, p);
    }
}

void operation_fill(struct worker *w, pthread_barrier_t *all_are_there) {
    struct plan p;
    struct held held[FULL];
    int n = 0;
    plan_of_the_fullest(w, &p);
    for (int i = 0; i < FULL; i++) {
        held[n] = (struct held){.plan = &p};
        n += held_launch(w, &held[n]);
    }
    plan_started(&p);
    pthread_barrier_wait(all_are_there);
    w->since = now_ns(); /* the slowest of all is nobody's fault */
    filled++;
    while (n > 0)
        held_finish(w, &held[--n]);
    plan_end(w, &p);
}
