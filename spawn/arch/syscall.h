/*
 * System calls without libc, and the calls that make a child on a stack of its own. The one place
 * that knows the processor. Everything is inlined: the child may call nothing that is not in its
 * own object file.
 */
#ifndef FL_ARCH_SYSCALL_H
#define FL_ARCH_SYSCALL_H

#include <stdint.h>
#include <sys/syscall.h>

/* Headers older than the calls. */
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* As the kernel defines them; libc's headers and the kernel's cannot both be included everywhere.
 */
struct fl_clone_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
};
#define FL_CLONE_VM             0x00000100u
#define FL_CLONE_FILES          0x00000400u
#define FL_CLONE_PIDFD          0x00001000u
#define FL_CLONE_VFORK          0x00004000u
#define FL_CLONE_CHILD_CLEARTID 0x00200000u
#define FL_CLONE_CLEAR_SIGHAND  0x100000000u
#define FL_CLONE_INTO_CGROUP    0x200000000u

#define FL_FUTEX_WAIT 0
#define FL_FUTEX_WAKE 1

/*
 * For all code of the child: no stack protector (the canary belongs to the parent's thread), no
 * instrumentation that calls a runtime.
 */
#ifdef __clang__
#define FL_BARE                                                                                    \
    __attribute__((no_sanitize("address", "thread", "memory", "undefined"),                        \
                   disable_sanitizer_instrumentation, no_instrument_function,                      \
                   no_profile_instrument_function))
#else
#define FL_BARE                                                                                    \
    __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined,                 \
                   no_instrument_function, no_profile_instrument_function))
#endif
#define FL_CHILD_CODE FL_BARE __attribute__((no_stack_protector, noinline))
/* A compiler that is told to fill variables calls memset for a large one. */
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define FL_UNSET __attribute__((uninitialized))
#else
#define FL_UNSET
#endif
#define FL_INLINE FL_BARE __attribute__((always_inline)) static inline

/*
 * fl_syscall(number, a, b, c, d, e): the result, or -errno. fl_syscall6: the same with one more.
 *
 * fl_clone3(args, size, entry, argument) and fl_clone(flags, stack_top, child_tid, entry,
 * argument): the child's pid or -errno in the parent; the child calls entry(argument), which must
 * not return, on the stack that it was given.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#error "libforkless knows x86_64 and aarch64"
#endif

#endif
