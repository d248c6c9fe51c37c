/* What forkless-exec is asked to do for the children of a command. Private. */
#ifndef FL_JOB_H
#define FL_JOB_H

#include "command.h"

/* Whether a step is taken by forkless-exec, where it is used, and not by the child before it. */
bool fl_job_takes(const forkless_command *, enum forkless_step);
/* Whether it is by it alone, or not at all. */
bool fl_job_takes_alone(enum forkless_step);

/* A descriptor of the caller that it needs besides its own. */
struct fl_role {
    enum forkless_step step;
    int from; /* -1: the cgroup, which is opened for each child */
};

/* Their number; `roles` has room for them or is NULL. */
size_t fl_job_roles(const forkless_command *, struct fl_role *roles);
/* How many descriptors it has in all. */
size_t fl_job_fds(const forkless_command *);

/* The job's descriptor, the command's to close: made at the first use. -errno. */
int fl_job_open(forkless_command *);

#endif
