/* spawn and start: one child, two mechanisms, and what to do where the kernel has neither. */
#include <errno.h>
#include <signal.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "child.h"
#include "command.h"
#include "error.h"
#include "reap.h"
#include "slot.h"

/* What this kernel, or a seccomp filter, has refused: remembered, so that it is asked once. */
static atomic_bool no_clone3;
static _Atomic enum { UNKNOWN, SHARED, COPIED } vfork_memory;

static long clone3(forkless_child *slot, uint64_t flags) {
    struct fl_clone_args args = {
        .flags = flags | FL_CLONE_VM | FL_CLONE_CLEAR_SIGHAND | FL_CLONE_CHILD_CLEARTID,
        .child_tid = (uintptr_t)&slot->word,
        .stack = (uintptr_t)fl_slot_stack(slot),
        .stack_size = FL_STACK_SIZE,
    };
    return fl_clone3(&args, sizeof args, fl_child, slot);
}

/* Without CLEAR_SIGHAND a handler of the parent's could run in the child: every signal is blocked
 * until they are gone. */
static long clone_vfork(forkless_child *slot, void (*entry)(void *)) {
    uint64_t all = ~UINT64_C(0), old;
    char *top = (char *)fl_slot_stack(slot) + FL_STACK_SIZE;
    long rc = fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof all, 0);
    if (rc < 0)
        return rc;
    rc = fl_clone(FL_CLONE_VM | FL_CLONE_VFORK | FL_CLONE_CHILD_CLEARTID, top, &slot->word, entry,
                  slot);
    fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old, 0);
    return rc;
}

/*
 * Emulators and some tracers run vfork as fork: the child's error would never arrive and its parent
 * not wait. Found out with a child that only exits: the kernel clears a shared word before it lets
 * the parent go on.
 */
static int test_vfork(forkless_child *slot) {
    if (atomic_load(&vfork_memory) == UNKNOWN) {
        atomic_store(&slot->word, 1);
        long pid = clone_vfork(slot, fl_child_self_test);
        if (pid < 0)
            return pid == -EINVAL ? -ENOTSUP : (int)pid; /* an emulator that knows no such flags */
        bool shared = atomic_load(&slot->word) == 0;
        slot->pid = (pid_t)pid;
        fl_reap_failed(slot);
        atomic_store(&vfork_memory, shared ? SHARED : COPIED);
    }
    return atomic_load(&vfork_memory) == SHARED ? 0 : -ENOTSUP;
}

static bool is_refusal(long rc) {
    return rc == -ENOSYS || rc == -EPERM || rc == -EINVAL || rc == -E2BIG;
}

/* The pid, or -errno. */
static long create(forkless_child *slot, enum forkless_mechanism mechanism) {
    if (!atomic_load_explicit(&no_clone3, memory_order_relaxed)) {
        slot->mechanism = mechanism;
        atomic_store_explicit(&slot->word, 1, memory_order_relaxed);
        long rc = clone3(slot, mechanism == FORKLESS_CLONE3_VFORK ? FL_CLONE_VFORK : 0);
        if (!is_refusal(rc))
            return rc;
        atomic_store(&no_clone3, true);
    }
    int rc = test_vfork(slot);
    if (rc < 0)
        return rc;
    slot->mechanism = FORKLESS_CLONE_VFORK;
    atomic_store(&slot->word, 1);
    return clone_vfork(slot, fl_child);
}

static int launch(forkless_command *command, enum forkless_mechanism mechanism,
                  forkless_child **out, forkless_error *error) {
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    if (out)
        *out = NULL;
    if (!command || !out)
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    if (command->code < 0)
        return fl_error(error, command->code, FORKLESS_STEP_SETTER, command->index,
                        command->setter);
    forkless_child *slot;
    int rc = fl_command_use(command);
    if (rc == 0)
        rc = fl_slot_take(&slot);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_SLOT, -1, NULL);

    fl_command_take(command);
    slot->command = command;
    long pid = create(slot, mechanism);
    if (pid < 0) {
        atomic_store(&slot->word, 0);
        fl_slot_give(slot);
        return fl_error(error, (int)pid, FORKLESS_STEP_CLONE, -1, NULL);
    }
    slot->pid = (pid_t)pid;
    *out = slot;
    return 0;
}

/* Where the caller was held, the child is past its exec, and what went wrong can be told at once.
 */
static int settle(forkless_child **out, forkless_error *error) {
    forkless_child *slot = *out;
    if (slot->mechanism == FORKLESS_CLONE3_VM || slot->record.code == 0)
        return 0;
    int rc = fl_record_error(slot, error);
    fl_reap_failed(slot);
    fl_slot_give(slot);
    *out = NULL;
    return rc;
}

static int run(const forkless_command *command, enum forkless_mechanism mechanism,
               forkless_child **out, forkless_error *error) {
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    int rc = launch((forkless_command *)command, mechanism, out, error);
    if (rc == 0)
        rc = settle(out, error);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

int forkless_spawn(const forkless_command *command, forkless_child **out, forkless_error *error) {
    return run(command, FORKLESS_CLONE3_VFORK, out, error);
}

int forkless_start(const forkless_command *command, forkless_child **out, forkless_error *error) {
    return run(command, FORKLESS_CLONE3_VM, out, error);
}
