#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/syscall.h"
#include "error.h"
#include "reason.h"

/* Whether a look from here finds what the child found. */
static bool is_seen_from_here(const forkless_command *c, const char *path) {
    return !fl_has(c, FORKLESS_STEP_NAMESPACE) && (path[0] == '/' || !fl_has(c, FORKLESS_STEP_CWD));
}

/* What was found and is missing something else: the first, for that is the one meant. NULL: none;
 * *all tells whether each could be looked at. */
static const char *found(const forkless_command *c, const char *const *programs, bool *all) {
    for (*all = true; *programs; programs++) {
        bool seen = is_seen_from_here(c, *programs);
        *all = *all && seen;
        if (seen && fl_syscall(SYS_faccessat, AT_FDCWD, (long)*programs, F_OK, 0, 0) == 0)
            return *programs;
    }
    return NULL;
}

static void find_reason(const forkless_command *c, forkless_error *error) {
    const struct fl_prepared *prepared = atomic_load_explicit(&c->prepared, memory_order_acquire);
    if (c->helper && error->code == -EACCES) /* to another user */
        return;
    if (c->program_fd >= 0)
        return;
    bool all = true, missing = error->code == -ENOENT;
    const char *path = prepared->searches ? found(c, prepared->programs, &all) : c->program;
    if (!path && all && missing)
        snprintf(error->reason, sizeof error->reason, "it is in no folder of the child's PATH");
    if (path && is_seen_from_here(c, path))
        fl_reason(path, error->code, error->reason, sizeof error->reason);
    if (!prepared->searches && missing && !error->reason[0] && !strchr(c->program, '/'))
        snprintf(error->reason, sizeof error->reason, "it has no slash, and is not searched for");
}

int fl_record_error(const struct fl_record *r, const forkless_command *c, forkless_error *error) {
    char numbers[48];
    const char *subject = r->subject;
    if (r->step == FORKLESS_STEP_DESCRIPTOR) {
        snprintf(numbers, sizeof numbers, "%d from %d", r->index, r->from);
        subject = numbers;
    } else if (r->step == FORKLESS_STEP_EXEC)
        subject = c->program;
    fl_error(error, r->code, r->step, r->index, subject);
    if (error && r->step == FORKLESS_STEP_EXEC)
        find_reason(c, error);
    if (error && r->step == FORKLESS_STEP_HELPER && r->code == -ENOTSUP)
        snprintf(error->reason, sizeof error->reason, "%s",
                 r->from < 0 ? strerror(-r->from)
                             : "it refuses: is it of another version, or the caller set-uid?");
    return r->code;
}
