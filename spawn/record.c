#include "record.h"

#include <errno.h>
#include <stdio.h>

#include "error.h"
#include "reason.h"

/* Whether a look from here finds what the child found. */
static bool is_seen_from_here(const forkless_command *c) {
    return !fl_has(c, FORKLESS_STEP_NAMESPACE) &&
           (c->program[0] == '/' || !fl_has(c, FORKLESS_STEP_CWD));
}

static void find_reason(const forkless_command *c, forkless_error *error) {
    const struct fl_prepared *prepared = atomic_load_explicit(&c->prepared, memory_order_acquire);
    if (c->program_fd >= 0)
        return;
    if (prepared->searches && error->code == -ENOENT)
        snprintf(error->reason, sizeof error->reason, "it is in no folder of the child's PATH");
    else if (!prepared->searches && is_seen_from_here(c))
        fl_reason(c->program, error->code, error->reason, sizeof error->reason);
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
    return r->code;
}
