#include "create.h"

#include <errno.h>
#include <signal.h>

#include "arch/syscall.h"
#include "child.h"
#include "own.h"
#include "reap.h"

/* What this kernel, or a seccomp filter, has refused: remembered, so that it is asked once. */
static atomic_bool no_clone3;
static _Atomic enum { UNKNOWN, SHARED, COPIED } vfork_memory;

/* A table that a filter does not let its children leave must not be shared. */
static atomic_bool no_unshare;

/* Whoever sees the word sees the birth. */
static void set_busy(forkless_child *slot) {
    atomic_store_explicit(&slot->word, fl_slot_busy_word(slot), memory_order_release);
}

/* By clone3_vfork it may have to be created twice. */
static long clone3(forkless_child *slot) {
    bool opens_pidfd = slot->opens_pidfd && slot->mechanism == FORKLESS_CLONE3_VM;
    uint64_t vfork = slot->mechanism == FORKLESS_CLONE3_VFORK ? FL_CLONE_VFORK : 0;
    uint64_t files = slot->shares_table ? FL_CLONE_FILES : 0; /* nothing to be copied */
    int cgroup = slot->cgroup, pidfd = -1;
    struct fl_clone_args args = {
        .flags = vfork | files | FL_CLONE_VM | FL_CLONE_CLEAR_SIGHAND | FL_CLONE_CHILD_CLEARTID |
                 (cgroup >= 0 ? FL_CLONE_INTO_CGROUP : 0) | (opens_pidfd ? FL_CLONE_PIDFD : 0),
        .pidfd = (uintptr_t)&pidfd,
        .child_tid = (uintptr_t)&slot->word,
        .stack = (uintptr_t)fl_slot_stack(slot),
        .stack_size = FL_STACK_SIZE,
        .cgroup = cgroup >= 0 ? (uint64_t)cgroup : 0,
    };
    long pid = fl_clone3(&args, sizeof args, fl_child, slot);
    if (pid > 0 && opens_pidfd) {
        long above = fl_above_stderr(pidfd);
        atomic_store(&slot->pidfd, above < 0 ? -1 : (int)above);
    }
    return pid;
}

/* Without CLEAR_SIGHAND a handler of the parent's could run in the child: every signal is blocked
 * until they are gone. */
static long clone_vfork(forkless_child *slot, void (*entry)(void *)) {
    uint64_t all = ~UINT64_C(0), old;
    char *top = (char *)fl_slot_stack(slot) + FL_STACK_SIZE;
    long rc = fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof all, 0);
    if (rc < 0)
        return rc;
    slot->mask = old;
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
        set_busy(slot);
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
static long create(forkless_child *slot) {
    bool cgroup = slot->cgroup >= 0;
    if (slot->mechanism != FORKLESS_CLONE_VFORK &&
        (cgroup || !atomic_load_explicit(&no_clone3, memory_order_relaxed))) {
        set_busy(slot);
        long rc = clone3(slot);
        if (cgroup || !is_refusal(rc)) /* of a cgroup it can be a refusal of just that */
            return rc;
        atomic_store(&no_clone3, true);
    }
    int rc = test_vfork(slot);
    if (rc < 0)
        return rc;
    slot->mechanism = FORKLESS_CLONE_VFORK;
    slot->shares_table = false; /* valgrind knows no such flags */
    set_busy(slot);
    return clone_vfork(slot, fl_child);
}

long fl_create(forkless_child *slot) {
    slot->shares_table &= !atomic_load_explicit(&no_unshare, memory_order_relaxed) &&
                          slot->mechanism == FORKLESS_CLONE3_VFORK;
    long pid = create(slot);
    if (pid < 0 || !slot->shares_table || slot->record.step != FORKLESS_STEP_CLOSE)
        return pid;
    if (is_refusal(slot->record.code))
        atomic_store(&no_unshare, true);
    slot->pid = (pid_t)pid; /* once more, with a table of its own */
    fl_reap_failed(slot);
    slot->record = (struct fl_record){0};
    slot->shares_table = false;
    return create(slot);
}
