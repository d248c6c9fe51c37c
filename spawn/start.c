/* spawn and start: from a command to a child, or to the reason why there is none. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "cgroup.h"
#include "clock.h"
#include "command.h"
#include "create.h"
#include "error.h"
#include "helper.h"
#include "override.h"
#include "own.h"
#include "pipe.h"
#include "policy.h"
#include "probes.h"
#include "reap.h"
#include "record.h"
#include "slot.h"
#include "stamps.h"
#include "start.h"

_Static_assert(FL_SPAWN_MECHANISM != FORKLESS_CLONE3_VM, "spawn would return before the exec");

static atomic_int first_mechanism;

struct request {
    forkless_command *command;
    struct fl_start more;
    enum forkless_mechanism asked;
    bool waits; /* for the exec */
    bool tells; /* its caller why it failed, in full */
    bool later; /* the slow-start hook: a run is still to be made of the child */
    int64_t since;
};

static bool joins_a_group(const forkless_command *c) {
    const struct fl_call *group = fl_command_call(c, FORKLESS_STEP_GROUP);
    return group && group->index != 0;
}

static int check(const struct request *r, forkless_error *error) {
    forkless_command *c = r->command;
    if (!c || (!r->more.kept && c->freed))
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    if (c->code < 0)
        return fl_error(error, c->code, FORKLESS_STEP_SETTER, c->index, c->setter);
    if (r->more.leads && joins_a_group(c)) {
        fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
        if (error)
            snprintf(error->reason, sizeof error->reason,
                     "whom is its own group, and the command joins another");
        return -EINVAL;
    }
    int index, rc = fl_command_prepare(c, &index);
    if (rc == -EBADF)
        return fl_error(error, rc, FORKLESS_STEP_SETTER, index, "forkless_command_same");
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_SLOT, -1, NULL);
    return 0;
}

static enum forkless_mechanism mechanism_for(const forkless_child *slot) {
    enum forkless_mechanism first =
        (enum forkless_mechanism)atomic_load_explicit(&first_mechanism, memory_order_relaxed);
    enum forkless_mechanism wanted = slot->asked > first ? slot->asked : first;
    if (slot->cgroup >= 0)
        return FORKLESS_CLONE3_VFORK;
    /* A thread that ended before its child is bound to it would never be missed. */
    if (wanted == FORKLESS_CLONE3_VM && slot->prepared->needs_parent)
        return FORKLESS_CLONE3_VFORK;
    return wanted;
}

static void close_theirs(forkless_child *slot) {
    fl_pipes_close_theirs(slot);
    fl_helper_close_theirs(slot);
}

static void close_all(forkless_child *slot) {
    close_theirs(slot);
    fl_close(slot->cgroup_kept);
    slot->cgroup_kept = -1;
    fl_pipes_close_ours(slot);
    fl_helper_close_ours(slot);
}

/* All that the child reads. */
static int fill(forkless_child *slot, const struct request *r, forkless_error *error) {
    const forkless_command *c = slot->command;
    bool cgroup = c->cgroup >= 0 || c->cgroup_path;
    int rc = cgroup ? fl_cgroup_look(slot, error) : 0;
    if (rc < 0)
        return rc;
    bool helped = rc > 0 || c->helper;
    rc = cgroup ? fl_cgroup_keep(slot, error) : 0;
    if (rc < 0)
        return rc;
    slot->prepared = atomic_load_explicit(&c->prepared, memory_order_acquire);
    slot->before = slot->prepared->before;
    slot->after = slot->prepared->after;
    slot->program_fd = c->program_fd;
    slot->cgroup = helped ? -1 : c->cgroup;
    slot->asked = r->asked;
    slot->opens_pidfd = r->more.pidfd;
    slot->arguments = r->more.arguments;
    slot->argument_first = r->more.first;
    slot->argument_count = r->more.count;
    if (slot->arguments)
        fl_arguments_take(slot->arguments);
    slot->clock = fl_vdso_clock();
    slot->mechanism = mechanism_for(slot);
    bool group = fl_has(c, FORKLESS_STEP_GROUP), session = fl_has(c, FORKLESS_STEP_SESSION);
    slot->makes_group = r->more.leads && !group && !session;
    slot->leads_group = slot->makes_group || session || (group && !joins_a_group(c));
    if (slot->prepared->needs_parent)
        slot->parent = (pid_t)fl_syscall(SYS_getpid, 0, 0, 0, 0, 0);
    if (slot->prepared->needs_mask)
        fl_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&slot->mask, sizeof slot->mask, 0);
    rc = helped ? fl_helper_begin(slot, error) : 0;
    if (rc >= 0)
        rc = fl_pipes_open(slot, &r->more.pipes, error);
    return rc < 0 ? rc : fl_override(slot, r->more.override, error);
}

static void wake_all(forkless_child *slot) {
    atomic_store(&slot->word, 0);
    fl_syscall(SYS_futex, (long)&slot->word, FL_FUTEX_WAKE, INT_MAX, 0, 0);
}

/* Of a child that is past its first exec, or failed before: whether it comes to the target. */
static int conclude(forkless_child *slot, const struct request *r, forkless_error *error) {
    if (slot->helped.used) {
        if (slot->record.code < 0)
            fl_helper_translate(slot);
        else if (r->waits)
            fl_helper_await(slot);
    }
    if (slot->record.code == 0)
        return 0;
    const struct fl_record *record = &slot->record;
    int rc = r->tells ? fl_record_error(record, slot->command, error)
                      : fl_error(error, record->code, record->step, record->index, NULL);
    fl_reap_failed(slot);
    return rc;
}

/* Where the caller was held the child is past its exec, and what went wrong can be told at once. */
static int launch(forkless_child *slot, const struct request *r, forkless_error *error) {
    int rc = fill(slot, r, error);
    if (rc < 0) {
        close_all(slot);
        return rc;
    }
    fl_slot_number_birth(slot);
    long pid = fl_create(slot);
    close_theirs(slot);
    if (pid < 0) {
        slot->pid = 0; /* of one that was tried */
        wake_all(slot);
        bool cgroup = slot->cgroup >= 0 && pid != -EAGAIN && pid != -ENOMEM;
        rc = fl_error(error, (int)pid, cgroup ? FORKLESS_STEP_CGROUP : FORKLESS_STEP_CLONE,
                      cgroup ? slot->cgroup : -1, NULL);
        if (error && pid == -ENOTSUP)
            snprintf(error->reason, sizeof error->reason,
                     "clone3 is refused, and vfork does not share memory here");
    } else {
        slot->pid = (pid_t)pid;
        fl_stamps_created(slot, r->since);
        if (slot->mechanism == FORKLESS_CLONE3_VM)
            return 0;
        rc = conclude(slot, r, error);
        if (rc == 0) {
            if (r->waits || !slot->helped.used)
                fl_stamps_execed(slot);
            return 0;
        }
    }
    close_all(slot);
    return rc;
}

static const char *program_of(const struct request *r) {
    return r->command && (r->more.kept || !r->command->freed) ? r->command->program : NULL;
}

static int failed(const struct request *r, pid_t pid, const forkless_error *error) {
    FL_PROBE(failed, pid, program_of(r), error->code, forkless_step_name(error->step), error->index,
             fl_now() - r->since);
    return error->code;
}

static int run(const struct request *r, forkless_child **out, forkless_error *error) {
    forkless_child *slot;
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    FL_PROBE(asked, program_of(r), r->waits);
    if (!out) {
        fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
        return failed(r, 0, error);
    }
    *out = NULL;
    int rc = check(r, error);
    if (rc == 0 && (rc = fl_slot_take(&slot)) < 0)
        fl_error(error, rc, FORKLESS_STEP_SLOT, -1, NULL);
    if (rc < 0)
        return failed(r, 0, error);
    fl_command_take(r->command);
    slot->command = r->command;
    rc = launch(slot, r, error);
    if (rc < 0) {
        failed(r, slot->pid, error);
        fl_slot_give(slot);
        return rc;
    }
    atomic_store_explicit(&slot->held, true, memory_order_relaxed);
    *out = slot;
    if (!r->later)
        fl_stamps_started(slot);
    return 0;
}

static int run_undisturbed(struct request *r, forkless_child **out, forkless_error *error) {
    forkless_error untold;
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    r->tells = error != NULL;
    int rc = run(r, out, error ? error : &untold);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

int forkless_spawn_with(const forkless_command *command, const forkless_override *override,
                        forkless_child **out, forkless_error *error) {
    struct request r = {.command = (forkless_command *)command,
                        .more = {.override = override},
                        .asked = FL_SPAWN_MECHANISM,
                        .since = fl_now(),
                        .waits = true};
    return run_undisturbed(&r, out, error);
}

int fl_start(const forkless_command *command, const struct fl_start *more, forkless_child **out,
             forkless_error *error) {
    struct request r = {.command = (forkless_command *)command,
                        .more = *more,
                        .asked = FL_START_MECHANISM,
                        .since = fl_now(),
                        .later = true};
    return run_undisturbed(&r, out, error);
}

int forkless_start_with(const forkless_command *command, const forkless_override *override,
                        forkless_child **out, forkless_error *error) {
    struct request r = {.command = (forkless_command *)command,
                        .more = {.override = override},
                        .asked = FL_START_MECHANISM,
                        .since = fl_now()};
    return run_undisturbed(&r, out, error);
}

int forkless_spawn(const forkless_command *command, forkless_child **out, forkless_error *error) {
    return forkless_spawn_with(command, NULL, out, error);
}

int forkless_start(const forkless_command *command, forkless_child **out, forkless_error *error) {
    return forkless_start_with(command, NULL, out, error);
}

int forkless_mechanism_limit(enum forkless_mechanism first) {
    if (first < FORKLESS_CLONE3_VM || first > FORKLESS_CLONE_VFORK)
        return -EINVAL;
    atomic_store(&first_mechanism, (int)first);
    return 0;
}
