/* User, groups, capabilities, OOM score: what cannot be changed in shared memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "command.h"

enum { OOM_SCORE_MAX = 1000, GROUPS_MAX = 65536 };

/* The end of a setter whose call forkless-exec makes. */
static int put_helped(forkless_command *c, const char *setter, const char *what,
                      const struct fl_call *call) {
    c->helper = what;
    return fl_set_end(c, setter, -1, fl_put_only(c, call));
}

int forkless_command_uid(forkless_command *c, uid_t uid) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_UID,
        .number = SYS_setresuid,
        .index = -1,
        .arguments = {uid, uid, uid},
    };
    if (uid == (uid_t)-1)
        return fl_set_end(c, __func__, -1, -EINVAL);
    return put_helped(c, __func__, "another user", &call);
}

int forkless_command_gid(forkless_command *c, gid_t gid) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_GID,
        .number = SYS_setresgid,
        .index = -1,
        .arguments = {gid, gid, gid},
    };
    if (gid == (gid_t)-1)
        return fl_set_end(c, __func__, -1, -EINVAL);
    return put_helped(c, __func__, "another group", &call);
}

int forkless_command_groups(forkless_command *c, size_t count, const gid_t groups[]) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    bool valid = count == 0 || (groups && count <= GROUPS_MAX);
    for (size_t i = 0; valid && i < count; i++)
        valid = groups[i] != (gid_t)-1;
    if (!valid)
        return fl_set_end(c, __func__, -1, -EINVAL);
    const gid_t none = 0,
                *copy = fl_copy(c, count ? groups : &none, (count + !count) * sizeof none);
    const struct fl_call call = {
        .step = FORKLESS_STEP_GROUPS,
        .number = SYS_setgroups,
        .index = -1,
        .arguments = {(long)count, (long)copy},
    };
    if (!copy)
        return fl_set_end(c, __func__, -1, -ENOMEM);
    return put_helped(c, __func__, "other supplementary groups", &call);
}

int forkless_command_securebits(forkless_command *c, unsigned bits) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_SECUREBITS,
        .number = SYS_prctl,
        .index = -1,
        .arguments = {(long)bits},
    };
    return put_helped(c, __func__, "securebits", &call);
}

int forkless_command_capabilities(forkless_command *c, uint64_t set) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_call call = {
        .step = FORKLESS_STEP_CAPABILITIES,
        .number = SYS_capset,
        .index = -1,
        .arguments = {(long)set},
    };
    return put_helped(c, __func__, "other capabilities", &call);
}

int forkless_command_oom_score(forkless_command *c, int score) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (score < -OOM_SCORE_MAX || score > OOM_SCORE_MAX)
        return fl_set_end(c, __func__, -1, -EINVAL);
    char text[8];
    snprintf(text, sizeof text, "%d", score);
    const struct fl_call call = {
        .step = FORKLESS_STEP_OOM_SCORE,
        .index = -1,
        .subject = fl_copy_string(c, text),
    };
    if (!call.subject)
        return fl_set_end(c, __func__, -1, -ENOMEM);
    return put_helped(c, __func__, "an OOM score", &call);
}
