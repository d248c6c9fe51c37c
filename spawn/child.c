/*
 * Beside the parent's other threads, in their memory: raw system calls only; reads the command,
 * writes its own slot's record. No libc, errno, thread-local storage, allocation or lock. A test
 * allows child.o no undefined symbol.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "arch/syscall.h"
#include "slot.h"

enum { KERNEL_SIGNALS = 64, KERNEL_MASK_SIZE = 8, MARK_CLOEXEC = 4 /* CLOSE_RANGE_CLOEXEC */ };

/* As the kernel has it, all zero: default handler, no flags. */
struct kernel_sigaction {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

FL_INLINE long raw(long number, long a, long b, long c) {
    return fl_syscall(number, a, b, c, 0, 0);
}

FL_CHILD_CODE _Noreturn static void leave(void) {
    for (;;)
        raw(SYS_exit_group, 127, 0, 0);
}

FL_CHILD_CODE _Noreturn static void fail(forkless_child *slot, enum forkless_step step, int index,
                                         long code) {
    slot->record.step = step;
    slot->record.index = index;
    slot->record.code = (int)code;
    leave();
}

FL_INLINE long set_default(int signal) {
    static const struct kernel_sigaction standard;
    return fl_syscall(SYS_rt_sigaction, signal, (long)&standard, 0, KERNEL_MASK_SIZE, 0);
}

/* What CLONE_CLEAR_SIGHAND does: ignored signals stay ignored. */
FL_CHILD_CODE static void reset_handlers(forkless_child *slot) {
    for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP)
            continue;
        struct kernel_sigaction old;
        long rc = fl_syscall(SYS_rt_sigaction, signal, 0, (long)&old, KERNEL_MASK_SIZE, 0);
        if (rc == 0 && old.handler != (void *)SIG_DFL && old.handler != (void *)SIG_IGN)
            rc = set_default(signal);
        if (rc < 0)
            fail(slot, FORKLESS_STEP_HANDLERS, signal, rc);
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
    _Alignas(struct directory_entry) char buffer[1024];
    long size, rc = 0;
    while (rc >= 0 && (size = raw(SYS_getdents64, directory, (long)buffer, sizeof buffer)) != 0) {
        rc = size;
        for (long at = 0; at < size && rc >= 0;) {
            struct directory_entry *entry = (struct directory_entry *)(void *)(buffer + at);
            at += entry->size;
            int fd = number_in(entry->name);
            if (fd > 2)
                rc = raw(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
            if (rc == -EBADF) /* valgrind shows its own */
                rc = 0;
        }
    }
    raw(SYS_close, directory, 0, 0);
    return rc;
}

/* Marks rather than closes, so that the sources of the moves are still there. */
FL_CHILD_CODE static void close_others(forkless_child *slot) {
    if (raw(SYS_close_range, 3, (long)~0u, MARK_CLOEXEC) == 0)
        return;
    long rc = mark_by_walking();
    if (rc < 0)
        fail(slot, FORKLESS_STEP_CLOSE, -1, rc);
}

/* A spare number that is still to be read means that this source was not open. */
FL_CHILD_CODE static long save(forkless_child *slot, const struct fl_moves *moves, size_t i) {
    long spare = raw(SYS_fcntl, moves->move[i].from, F_DUPFD_CLOEXEC, 0);
    while (spare >= 0 && ++i < moves->count)
        if (moves->move[i].from == spare)
            fail(slot, FORKLESS_STEP_DESCRIPTOR, moves->move[i].to, -EBADF);
    return spare;
}

FL_CHILD_CODE static void move_descriptors(forkless_child *slot, const struct fl_moves *moves) {
    long spare = -1;
    for (size_t i = 0; i < moves->count; i++) {
        const struct fl_move *m = &moves->move[i];
        long rc = 0;
        switch (m->kind) {
        case FL_KEEP:
            rc = raw(SYS_fcntl, m->to, F_SETFD, 0);
            break;
        case FL_MOVE:
            rc = raw(SYS_dup3, m->from, m->to, 0);
            break;
        case FL_SAVE:
            rc = spare = save(slot, moves, i);
            break;
        case FL_RESTORE:
            rc = raw(SYS_dup3, spare, m->to, 0);
            break;
        }
        if (rc < 0)
            fail(slot, FORKLESS_STEP_DESCRIPTOR, m->to, rc);
    }
}

FL_CHILD_CODE void fl_child(void *argument) {
    forkless_child *slot = argument;
    const forkless_command *command = slot->command;
    static const uint64_t nothing;

    if (slot->mechanism == FORKLESS_CLONE_VFORK)
        reset_handlers(slot);
    close_others(slot);
    const struct fl_moves *moves =
        atomic_load_explicit(&command->descriptors.moves, memory_order_relaxed);
    if (moves)
        move_descriptors(slot, moves);

    /* After the handlers: nothing of the parent's may run here. */
    long rc = fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&nothing, 0, KERNEL_MASK_SIZE, 0);
    if (rc < 0)
        fail(slot, FORKLESS_STEP_MASK, -1, rc);
    rc = set_default(SIGPIPE);
    if (rc < 0)
        fail(slot, FORKLESS_STEP_SIGPIPE, -1, rc);
    rc = raw(SYS_execve, (long)command->program, (long)command->argv, (long)command->envp);
    fail(slot, FORKLESS_STEP_EXEC, -1, rc);
}

FL_CHILD_CODE void fl_child_self_test(void *slot) {
    (void)slot;
    leave();
}
