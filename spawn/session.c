/* Process group, session, terminal. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "command.h"

static const struct fl_call new_session = {
    .step = FORKLESS_STEP_SESSION,
    .number = SYS_setsid,
    .index = -1,
};

/* The one group that is set; a session's leader leads its own already. */
static bool joins_a_group(const forkless_command *c) {
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].step == FORKLESS_STEP_GROUP)
            return c->calls[i].arguments[1] != 0;
    return false;
}

int forkless_command_group(forkless_command *c, pid_t group) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_GROUP,
        .number = SYS_setpgid,
        .index = group,
        .arguments = {0, group},
    };
    bool session = fl_has(c, FORKLESS_STEP_SESSION);
    if (group < 0 || (session && group > 0))
        rc = -EINVAL;
    else if (!session)
        rc = fl_put_only(c, &call);
    return fl_set_end(c, __func__, group, rc);
}

static int set_session(forkless_command *c) {
    if (joins_a_group(c))
        return -EINVAL;
    fl_take_out(c, FORKLESS_STEP_GROUP, -1);
    return fl_put(c, &new_session);
}

int forkless_command_session(forkless_command *c) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    return fl_set_end(c, __func__, -1, set_session(c));
}

int forkless_command_terminal(forkless_command *c, int child_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_TERMINAL,
        .number = SYS_ioctl,
        .index = child_fd,
        .arguments = {child_fd, TIOCSCTTY, 0},
    };
    rc = child_fd < 0 ? -EBADF : set_session(c);
    return fl_set_end(c, __func__, child_fd, rc < 0 ? rc : fl_put_only(c, &call));
}

int forkless_command_foreground(forkless_command *c, int child_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .kind = FL_FOREGROUND,
        .step = FORKLESS_STEP_FOREGROUND,
        .index = child_fd,
    };
    return fl_set_end(c, __func__, child_fd, child_fd < 0 ? -EBADF : fl_put_only(c, &call));
}
