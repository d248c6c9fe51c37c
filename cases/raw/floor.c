/*
 * The floor: what the kernel takes for a child like the library's. Same flags, same five system
 * calls, nothing around them: no command, no error that comes back, no handle. What the library
 * costs above it is the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "arch/syscall.h"
#include "raw.h"

struct place { /* one child's */
    char stack[16 * 1024 - 64];
    _Alignas(64) uint32_t word;
};

static struct place *places;
static unsigned place_count;
static atomic_uint next; /* in turn: that many children of one sample each have their own */

static int prepare(const struct request *request) {
    places = mmap(NULL, request->children * sizeof *places, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED)
        return -errno;
    place_count = request->children;
    return raw_prepare(request);
}

static void cleanup(void) {
    munmap(places, place_count * sizeof *places);
}

FL_CHILD_CODE static void child(void *argument) {
    static const uint64_t no_signals;
    static const struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } standard;
    (void)argument;
    fl_syscall(SYS_close_range, 3, (long)~0u, 4 /* CLOSE_RANGE_CLOEXEC */, 0, 0);
    fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&no_signals, 0, 8, 0);
    fl_syscall(SYS_rt_sigaction, SIGPIPE, (long)&standard, 0, 8, 0);
    fl_syscall(SYS_execve, (long)raw_argv[0], (long)raw_argv, (long)environ, 0, 0);
    fl_syscall(SYS_exit_group, 127, 0, 0, 0, 0);
}

static int make(struct born *born, uint64_t flags) {
    struct place *place =
        &places[atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % place_count];
    place->word = 1;
    struct fl_clone_args args = {
        .flags = flags | FL_CLONE_VM | FL_CLONE_CLEAR_SIGHAND | FL_CLONE_CHILD_CLEARTID,
        .child_tid = (uintptr_t)&place->word,
        .stack = (uintptr_t)place->stack,
        .stack_size = sizeof place->stack,
    };
    long pid = fl_clone3(&args, sizeof args, child, NULL);
    born->pid = (pid_t)pid;
    return pid < 0 ? (int)pid : 0;
}

static int body_vm(struct born *born) {
    return make(born, 0);
}

static int body_vfork(struct born *born) {
    return make(born, FL_CLONE_VFORK);
}

const struct strategy strategy_floor_vm = {
    .name = "floor_vm",
    .prepare = prepare,
    .body = body_vm,
    .finish = raw_finish,
    .cleanup = cleanup,
};

const struct strategy strategy_floor_vfork = {
    .name = "floor_vfork",
    .prepare = prepare,
    .body = body_vfork,
    .finish = raw_finish,
    .cleanup = cleanup,
};
