/*
 * Beside the parent's other threads, in their memory: raw system calls only, and the vDSO's clock;
 * reads the command, writes its own slot's record and stamps. No libc, errno, thread-local storage,
 * allocation or lock. A test allows child.o no undefined symbol.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "arch/syscall.h"
#include "clock.h"
#include "kernel.h"
#include "slot.h"

enum {
    UNSHARE = 2,     /* CLOSE_RANGE_UNSHARE */
    MARK_CLOEXEC = 4 /* CLOSE_RANGE_CLOEXEC */
};

FL_INLINE long raw(long number, long a, long b, long c) {
    return fl_syscall(number, a, b, c, 0, 0);
}

FL_INLINE int64_t now(const forkless_child *slot) {
    FL_UNSET struct timespec time;
    if (!slot->clock || slot->clock(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (int64_t)time.tv_sec * FL_SECOND_NS + time.tv_nsec;
}

FL_INLINE void stamp(const forkless_child *slot, _Atomic int64_t *stamp) {
    atomic_store_explicit(stamp, now(slot), memory_order_relaxed);
}

FL_CHILD_CODE _Noreturn static void leave(void) {
    for (;;)
        raw(SYS_exit_group, 127, 0, 0);
}

FL_CHILD_CODE _Noreturn static void fail_at(forkless_child *slot, enum forkless_step step,
                                            int index, long code) {
    slot->record.step = step;
    slot->record.index = index;
    slot->record.code = (int)code;
    leave();
}

FL_CHILD_CODE _Noreturn static void fail(forkless_child *slot, const struct fl_call *call,
                                         long code) {
    slot->record.from = call->from;
    slot->record.subject = call->subject;
    fail_at(slot, call->step, call->index, code);
}

/* What CLONE_CLEAR_SIGHAND does: ignored signals stay ignored. */
FL_CHILD_CODE static void reset_handlers(forkless_child *slot) {
    static const struct fl_sigaction standard;
    for (int signal = 1; signal <= FL_SIGNALS; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP)
            continue;
        struct fl_sigaction old;
        long rc = fl_syscall(SYS_rt_sigaction, signal, 0, (long)&old, FL_MASK_SIZE, 0);
        if (rc == 0 && old.handler != SIG_DFL && old.handler != SIG_IGN)
            rc = fl_syscall(SYS_rt_sigaction, signal, (long)&standard, 0, FL_MASK_SIZE, 0);
        if (rc < 0)
            fail_at(slot, FORKLESS_STEP_HANDLERS, signal, rc);
    }
}

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

FL_INLINE int number_in(const char *name) {
    int n = 0;
    if (!*name)
        return -1;
    for (; *name; name++) {
        if (*name < '0' || *name > '9')
            return -1;
        n = 10 * n + (*name - '0');
    }
    return n;
}

/* Where close_range is refused or older than 5.11. Without /proc there is no telling what is open:
 * that is an error. */
FL_CHILD_CODE static long mark_by_walking(void) {
    static const char path[] = "/proc/self/fd";
    long directory =
        fl_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
    if (directory < 0)
        return directory;
    FL_UNSET _Alignas(struct directory_entry) char buffer[1024];
    bool found = false;
    long size, rc = 0;
    while (rc >= 0 && (size = raw(SYS_getdents64, directory, (long)buffer, sizeof buffer)) != 0) {
        rc = size;
        for (long at = 0; at < size && rc >= 0;) {
            struct directory_entry *entry = (struct directory_entry *)(void *)(buffer + at);
            at += entry->size;
            int fd = number_in(entry->name);
            found |= fd == directory;
            if (fd > 2)
                rc = raw(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
            if (rc == -EBADF) /* valgrind shows its own */
                rc = 0;
        }
    }
    raw(SYS_close, directory, 0, 0);
    return rc < 0 || found ? rc : -ENOENT; /* it is no such list where it does not have itself */
}

/*
 * Marks rather than closes, so that the sources of the moves are still there. Where the table is
 * the caller's own there are none, and a copy of what is left is made here; without it nothing may
 * go on.
 */
FL_CHILD_CODE static long close_others(const forkless_child *slot) {
    if (slot->shares_table)
        return raw(SYS_close_range, 3, (long)~0u, UNSHARE);
    if (raw(SYS_close_range, 3, (long)~0u, MARK_CLOEXEC) == 0)
        return 0;
    return mark_by_walking();
}

FL_INLINE long as_it_stands(const struct fl_call *call) {
    const long *a = call->arguments;
    return fl_syscall(call->number, a[0], a[1], a[2], a[3], a[4]);
}

/* A new number that is still to be read means that this source was not open. */
FL_CHILD_CODE static long unread(long fd, forkless_child *slot, const struct fl_call *call,
                                 const struct fl_call *end) {
    while (fd >= 0 && ++call < end)
        if (fl_call_reads(call, fd))
            fail(slot, call, -EBADF);
    return fd;
}

FL_CHILD_CODE static long open_one(const struct fl_call *call) {
    long rc = as_it_stands(call);
    if (rc != -EMFILE && rc != -EBUSY)
        return rc;
    raw(SYS_close, call->index, 0, 0);
    return as_it_stands(call);
}

/* A limit of file sizes is to be an error, not a signal that dumps the memory which is the
 * parent's. The mask is set again before exec. */
FL_CHILD_CODE static long fill(long fd, const struct fl_call *call) {
    static const uint64_t xfsz = UINT64_C(1) << (SIGXFSZ - 1);
    const char *data = (const char *)call->arguments[1];
    long blocked = fl_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&xfsz, 0, FL_MASK_SIZE, 0);
    if (blocked < 0)
        return blocked;
    for (long done = 0, size = call->arguments[2], rc; done < size; done += rc) {
        rc = fl_syscall(SYS_pwrite64, fd, (long)(data + done), size - done, done, 0);
        if (rc <= 0)
            return rc < 0 ? rc : -EIO;
    }
    return 0;
}

/* From the background too: a terminal stops whoever does this with SIGTTOU unblocked. The mask is
 * set again before exec. */
FL_CHILD_CODE static long take_terminal(long fd) {
    static const uint64_t ttou = UINT64_C(1) << (SIGTTOU - 1);
    long rc = fl_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&ttou, 0, FL_MASK_SIZE, 0);
    if (rc < 0)
        return rc;
    rc = raw(SYS_getpgid, 0, 0, 0);
    int group = (int)rc;
    return rc < 0 ? rc : raw(SYS_ioctl, fd, TIOCSPGRP, (long)&group);
}

FL_CHILD_CODE static void perform(forkless_child *slot, const struct fl_calls *calls) {
    const struct fl_call *call = calls->call, *end = call + calls->count;
    long spare = -1;
    for (; call < end; call++) {
        long rc = 0;
        switch (call->kind) {
        case FL_CALL:
        case FL_COPY:
            rc = as_it_stands(call);
            break;
        case FL_SAVE:
            rc = spare = unread(as_it_stands(call), slot, call, end);
            break;
        case FL_OPEN:
            rc = spare = unread(open_one(call), slot, call, end);
            break;
        case FL_FILL:
            rc = fill(spare, call);
            break;
        case FL_PLACE:
            rc = spare == call->index ? raw(SYS_fcntl, spare, F_SETFD, 0)
                                      : raw(SYS_dup3, spare, call->index, 0);
            break;
        case FL_PROGRAM:
            rc = unread(as_it_stands(call), slot, call, end);
            slot->program_fd = (int)rc;
            break;
        case FL_CLOSE_OTHERS:
            rc = close_others(slot);
            break;
        case FL_FOREGROUND:
            rc = take_terminal(call->index);
            break;
        case FL_DEATH_SIGNAL:
            rc = as_it_stands(call);
            if (rc >= 0)
                rc = raw(SYS_getppid, 0, 0, 0);
            if (rc > 0 && rc != slot->parent) /* 0: the parent is in another pid namespace */
                rc = -ESRCH;
            break;
        case FL_CALLERS_MASK:
            if (slot->mechanism == FORKLESS_CLONE_VFORK || slot->prepared->needs_mask)
                rc = fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&slot->mask, 0, FL_MASK_SIZE,
                                0);
            break;
        }
        if (rc < 0)
            fail(slot, call, rc);
        if (spare >= 0 && spare == slot->program_fd) /* which was not open, then */
            fail_at(slot, FORKLESS_STEP_EXEC, -1, -EBADF);
    }
}

/* The path is empty where the program is a descriptor. Otherwise the next in turn, as execvp does
 * it. */
FL_CHILD_CODE _Noreturn static void execute(forkless_child *slot) {
    const struct fl_prepared *prepared = slot->prepared;
    long argv = (long)slot->argv, envp = (long)slot->command->envp, code = -ENOENT;
    if (slot->program_fd >= 0) {
        stamp(slot, &slot->stamps.exec_called);
        code = fl_syscall(SYS_execveat, slot->program_fd, (long)"", argv, envp, AT_EMPTY_PATH);
    } else
        for (const char *const *program = prepared->programs; *program; program++) {
            stamp(slot, &slot->stamps.exec_called);
            long rc = raw(SYS_execve, (long)*program, argv, envp);
            bool goes_on = rc == -EACCES || rc == -ENOENT || rc == -ENOTDIR;
            if (rc == -EACCES || !goes_on || !prepared->searches)
                code = rc;
            if (!goes_on)
                break;
        }
    fail_at(slot, FORKLESS_STEP_EXEC, -1, code);
}

FL_CHILD_CODE void fl_child(void *argument) {
    forkless_child *slot = argument;
    stamp(slot, &slot->stamps.set_up);
    if (slot->mechanism == FORKLESS_CLONE_VFORK)
        reset_handlers(slot);
    long rc = slot->makes_group ? raw(SYS_setpgid, 0, 0, 0) : 0;
    if (rc < 0)
        fail_at(slot, FORKLESS_STEP_GROUP, 0, rc);
    perform(slot, &slot->before);
    perform(slot, &slot->descriptors);
    perform(slot, &slot->after);
    execute(slot);
}

FL_CHILD_CODE void fl_child_self_test(void *slot) {
    (void)slot;
    leave();
}
