#include "error.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [FORKLESS_STEP_NONE] = "none",     [FORKLESS_STEP_ARGUMENT] = "argument",
    [FORKLESS_STEP_SETTER] = "setter", [FORKLESS_STEP_SLOT] = "slot",
    [FORKLESS_STEP_CLONE] = "clone",   [FORKLESS_STEP_HANDLERS] = "handlers",
    [FORKLESS_STEP_CLOSE] = "close",   [FORKLESS_STEP_DESCRIPTOR] = "descriptor",
    [FORKLESS_STEP_MASK] = "mask",     [FORKLESS_STEP_SIGPIPE] = "sigpipe",
    [FORKLESS_STEP_EXEC] = "exec",     [FORKLESS_STEP_WAIT] = "wait",
};

const char *forkless_step_name(enum forkless_step step) {
    return (size_t)step < sizeof names / sizeof *names ? names[step] : "unknown";
}

int fl_error(forkless_error *error, int code, enum forkless_step step, int index,
             const char *subject) {
    if (!error)
        return code;
    *error = (forkless_error){.code = code, .step = step, .index = index};
    if (!subject)
        return code;
    size_t length = strlen(subject), room = sizeof error->subject - 1;
    if (length <= room)
        memcpy(error->subject, subject, length);
    else
        snprintf(error->subject, sizeof error->subject, "...%s", subject + length - (room - 3));
    return code;
}

/* What could not be done, as the rest of "cannot ...". */
static void describe(const forkless_error *e, char *buffer, size_t size) {
    switch (e->step) {
    case FORKLESS_STEP_EXEC:
        snprintf(buffer, size, "execute %s", e->subject);
        break;
    case FORKLESS_STEP_SETTER:
        snprintf(buffer, size, "use a command whose %s failed", e->subject);
        break;
    case FORKLESS_STEP_DESCRIPTOR:
        snprintf(buffer, size, "make the child's descriptor %d", e->index);
        break;
    case FORKLESS_STEP_HANDLERS:
        snprintf(buffer, size, "reset the handler of signal %d in the child", e->index);
        break;
    case FORKLESS_STEP_ARGUMENT:
        snprintf(buffer, size, "do this with a NULL argument");
        break;
    case FORKLESS_STEP_SLOT:
        snprintf(buffer, size, "get memory for the child's stack");
        break;
    case FORKLESS_STEP_CLONE:
        snprintf(buffer, size, "create the child");
        break;
    case FORKLESS_STEP_CLOSE:
        snprintf(buffer, size, "find the descriptors to close in the child");
        break;
    case FORKLESS_STEP_MASK:
        snprintf(buffer, size, "clear the child's signal mask");
        break;
    case FORKLESS_STEP_SIGPIPE:
        snprintf(buffer, size, "reset SIGPIPE in the child");
        break;
    case FORKLESS_STEP_WAIT:
        snprintf(buffer, size, "wait for the child");
        break;
    default:
        snprintf(buffer, size, "do step %d", (int)e->step);
    }
}

int forkless_error_print(const forkless_error *error, char *buffer, size_t size) {
    if (!error || error->code == 0)
        return snprintf(buffer, size, "no error");
    char what[sizeof error->subject + 64];
    describe(error, what, sizeof what);
    return snprintf(buffer, size, "cannot %s: %s", what, strerror(-error->code));
}
