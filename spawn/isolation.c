/* Privileges, death signal, cgroup, namespaces. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "command.h"
#include "kernel.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

int forkless_command_no_new_privs(forkless_command *c) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    static const struct fl_call call = {
        .step = FORKLESS_STEP_NO_NEW_PRIVS,
        .number = SYS_prctl,
        .index = -1,
        .arguments = {PR_SET_NO_NEW_PRIVS, 1},
    };
    return fl_set_end(c, __func__, -1, fl_put(c, &call));
}

int forkless_command_death_signal(forkless_command *c, int signal) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .kind = FL_DEATH_SIGNAL,
        .step = FORKLESS_STEP_DEATH_SIGNAL,
        .number = SYS_prctl,
        .index = signal,
        .arguments = {PR_SET_PDEATHSIG, signal},
    };
    bool valid = signal >= 1 && signal <= FL_SIGNALS;
    return fl_set_end(c, __func__, signal, valid ? fl_put_only(c, &call) : -EINVAL);
}

int forkless_command_cgroup(forkless_command *c, int parent_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    c->cgroup = parent_fd;
    c->cgroup_path = NULL;
    return fl_set_end(c, __func__, parent_fd, parent_fd < 0 ? -EBADF : 0);
}

int forkless_command_cgroup_path(forkless_command *c, const char *path) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!path || !*path)
        return fl_set_end(c, __func__, -1, -EINVAL);
    c->cgroup = -1;
    c->cgroup_path = fl_copy_string(c, path);
    return fl_set_end(c, __func__, -1, c->cgroup_path ? 0 : -ENOMEM);
}

/* One of each type, the last. A pidfd may be there for several (Linux 5.8). */
static int put_namespace(forkless_command *c, struct fl_call call) {
    for (size_t i = c->call_count; i-- > 0;) {
        struct fl_call *other = &c->calls[i];
        if (other->step != FORKLESS_STEP_NAMESPACE)
            continue;
        other->arguments[1] &= ~call.arguments[1];
        if (other->index == call.index)
            call.arguments[1] |= other->arguments[1];
        else if (other->arguments[1] == 0)
            fl_take_out(c, FORKLESS_STEP_NAMESPACE, other->index);
    }
    return fl_put(c, &call);
}

int forkless_command_namespace(forkless_command *c, int parent_fd, int type) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_NAMESPACE,
        .number = SYS_setns,
        .index = parent_fd,
        .arguments = {parent_fd, type},
    };
    switch (type) {
    case CLONE_NEWNS:
    case CLONE_NEWUTS:
    case CLONE_NEWIPC:
    case CLONE_NEWNET:
    case CLONE_NEWPID:
    case CLONE_NEWCGROUP:
        rc = parent_fd < 0 ? -EBADF : put_namespace(c, call);
        break;
    case CLONE_NEWUSER:
        c->helper = "a user namespace";
        c->user_namespace = parent_fd;
        rc = parent_fd < 0 ? -EBADF : 0;
        break;
    default:
        rc = type == CLONE_NEWTIME ? -ENOTSUP : -EINVAL;
    }
    return fl_set_end(c, __func__, parent_fd, rc);
}
