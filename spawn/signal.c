/* What signals do in the child, and which it blocks. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "command.h"
#include "kernel.h"

static const struct fl_sigaction actions[] = {
    [FORKLESS_DEFAULT] = {.handler = SIG_DFL},
    [FORKLESS_IGNORE] = {.handler = SIG_IGN},
};

int forkless_command_mask(forkless_command *c, const sigset_t *mask) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    struct fl_call call = {.kind = FL_CALLERS_MASK, .step = FORKLESS_STEP_MASK, .index = -1};
    if (mask) {
        uint64_t bits;
        memcpy(&bits, mask, sizeof bits);
        const uint64_t *copy = fl_copy(c, &bits, sizeof bits);
        if (!copy)
            return fl_set_end(c, __func__, -1, -ENOMEM);
        call.kind = FL_CALL;
        call.number = SYS_rt_sigprocmask;
        call.arguments[0] = SIG_SETMASK;
        call.arguments[1] = (long)copy;
        call.arguments[3] = FL_MASK_SIZE;
    }
    return fl_set_end(c, __func__, -1, fl_put_only(c, &call));
}

static int set(forkless_command *c, int signal, enum forkless_disposition disposition) {
    if (disposition == FORKLESS_INHERIT) {
        fl_take_out(c, FORKLESS_STEP_SIGNAL, signal);
        return 0;
    }
    const struct fl_call call = {
        .step = FORKLESS_STEP_SIGNAL,
        .number = SYS_rt_sigaction,
        .index = signal,
        .arguments = {signal, (long)&actions[disposition], 0, FL_MASK_SIZE},
    };
    return fl_put(c, &call);
}

static bool can_be_changed(int signal) {
    return signal >= 1 && signal <= FL_SIGNALS && signal != SIGKILL && signal != SIGSTOP;
}

int forkless_command_signal(forkless_command *c, int signal,
                            enum forkless_disposition disposition) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    bool all = signal == FORKLESS_ALL_SIGNALS;
    if (!(all || can_be_changed(signal)) || (unsigned)disposition > FORKLESS_IGNORE)
        return fl_set_end(c, __func__, signal, -EINVAL);
    if (!all)
        return fl_set_end(c, __func__, signal, set(c, signal, disposition));
    for (int s = 1; s <= FL_SIGNALS && rc == 0; s++)
        if (can_be_changed(s))
            rc = set(c, s, disposition);
    return fl_set_end(c, __func__, signal, rc);
}
