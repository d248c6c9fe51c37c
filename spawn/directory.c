/* Working directory and umask. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "command.h"

int forkless_command_cwd(forkless_command *c, const char *path) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!path || !*path)
        return fl_set_end(c, __func__, -1, -EINVAL);
    const char *copy = fl_copy_string(c, path);
    const struct fl_call call = {
        .step = FORKLESS_STEP_CWD,
        .number = SYS_chdir,
        .index = -1,
        .subject = copy,
        .arguments = {(long)copy},
    };
    return fl_set_end(c, __func__, -1, copy ? fl_put_only(c, &call) : -ENOMEM);
}

int forkless_command_cwd_fd(forkless_command *c, int parent_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    char name[32];
    snprintf(name, sizeof name, "of descriptor %d", parent_fd);
    const struct fl_call call = {
        .step = FORKLESS_STEP_CWD,
        .number = SYS_fchdir,
        .index = parent_fd,
        .subject = fl_copy_string(c, name),
        .arguments = {parent_fd},
    };
    rc = parent_fd < 0 ? -EBADF : call.subject ? fl_put_only(c, &call) : -ENOMEM;
    return fl_set_end(c, __func__, parent_fd, rc);
}

int forkless_command_umask(forkless_command *c, mode_t mask) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_UMASK,
        .number = SYS_umask,
        .index = -1,
        .arguments = {(long)mask},
    };
    return fl_set_end(c, __func__, -1, mask & ~(mode_t)0777 ? -EINVAL : fl_put_only(c, &call));
}
