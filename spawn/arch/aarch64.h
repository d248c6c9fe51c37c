/* aarch64: the number in x8, arguments in x0 to x5; only x0 is lost. */

FL_INLINE long fl_syscall(long number, long a, long b, long c, long d, long e) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory", "cc");
    return x0;
}

FL_INLINE long fl_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory", "cc");
    return x0;
}

/* Where a program without libc starts: the function gets the stack as exec has made it. */
#define FL_PROGRAM_ENTRY(function)                                                                 \
    __asm__(".text\n"                                                                              \
            ".globl _start\n"                                                                      \
            ".type _start, %function\n"                                                            \
            "_start:\n\t"                                                                          \
            "mov x29, xzr\n\t"                                                                     \
            "mov x30, xzr\n\t"                                                                     \
            "mov x0, sp\n\t"                                                                       \
            "bl " function "\n\t"                                                                  \
            "brk #1\n"                                                                             \
            ".size _start, . - _start\n");

/* The child starts behind svc with the parent's registers, a new stack and x0 = 0. */
#define FL_CHILD_BEGINS                                                                            \
    "svc #0\n\t"                                                                                   \
    "cbnz x0, 1f\n\t"                                                                              \
    "mov x29, xzr\n\t"                                                                             \
    "mov x30, xzr\n\t"                                                                             \
    "mov x0, x10\n\t"                                                                              \
    "blr x9\n\t"                                                                                   \
    "brk #1\n"                                                                                     \
    "1:"

FL_INLINE long fl_clone3(struct fl_clone_args *args, long size, void (*entry)(void *),
                         void *argument) {
    register long x8 __asm__("x8") = SYS_clone3;
    register long x0 __asm__("x0") = (long)args;
    register long x1 __asm__("x1") = size;
    register void (*x9)(void *) __asm__("x9") = entry;
    register void *x10 __asm__("x10") = argument;
    __asm__ volatile(FL_CHILD_BEGINS
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x9), "r"(x10)
                     : "memory", "cc");
    return x0;
}

/* Here the thread pointer comes before child_tid, the other way round than on x86_64. */
FL_INLINE long fl_clone(long flags, void *stack_top, void *child_tid, void (*entry)(void *),
                        void *argument) {
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register void *x1 __asm__("x1") = stack_top;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register void *x4 __asm__("x4") = child_tid;
    register void (*x9)(void *) __asm__("x9") = entry;
    register void *x10 __asm__("x10") = argument;
    __asm__ volatile(FL_CHILD_BEGINS
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), "r"(x10)
                     : "memory", "cc");
    return x0;
}

#undef FL_CHILD_BEGINS
