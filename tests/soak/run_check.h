/* A run, and whether its result is one that is possible. */
#ifndef RUN_CHECK_H
#define RUN_CHECK_H

#include "plan.h"

struct running {
    struct plan plan;
    forkless_run_options options;
    forkless_override override;
    unsigned char *input;
    forkless_child *child;
    forkless_result result;
};

void run_check(struct worker *, struct running *, int rc, const forkless_error *);

#endif
