/* x86_64: the number in rax, arguments in rdi rsi rdx r10 r8 r9; rcx and r11 are lost. */

FL_INLINE long fl_syscall(long number, long a, long b, long c, long d, long e) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

FL_INLINE long fl_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

/* Where a program without libc starts: the function gets the stack as exec has made it. */
#define FL_PROGRAM_ENTRY(function)                                                                 \
    __asm__(".text\n"                                                                              \
            ".globl _start\n"                                                                      \
            ".type _start, @function\n"                                                            \
            "_start:\n\t"                                                                          \
            "xor %ebp, %ebp\n\t"                                                                   \
            "mov %rsp, %rdi\n\t"                                                                   \
            "and $-16, %rsp\n\t"                                                                   \
            "call " function "\n\t"                                                                \
            "hlt\n"                                                                                \
            ".size _start, . - _start\n");

/* The child starts behind the syscall instruction with the parent's registers, a new stack and rax
 * = 0. */
#define FL_CHILD_BEGINS                                                                            \
    "syscall\n\t"                                                                                  \
    "test %%rax, %%rax\n\t"                                                                        \
    "jnz 1f\n\t"                                                                                   \
    "xor %%ebp, %%ebp\n\t"                                                                         \
    "mov %%r12, %%rdi\n\t"                                                                         \
    "call *%%r9\n\t"                                                                               \
    "hlt\n"                                                                                        \
    "1:"

FL_INLINE long fl_clone3(struct fl_clone_args *args, long size, void (*entry)(void *),
                         void *argument) {
    long result;
    register void (*r9)(void *) __asm__("r9") = entry;
    register void *r12 __asm__("r12") = argument;
    __asm__ volatile(FL_CHILD_BEGINS
                     : "=a"(result)
                     : "0"((long)SYS_clone3), "D"(args), "S"(size), "r"(r9), "r"(r12)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

FL_INLINE long fl_clone(long flags, void *stack_top, void *child_tid, void (*entry)(void *),
                        void *argument) {
    long result;
    register void *r10 __asm__("r10") = child_tid;
    register long r8 __asm__("r8") = 0;
    register void (*r9)(void *) __asm__("r9") = entry;
    register void *r12 __asm__("r12") = argument;
    __asm__ volatile(FL_CHILD_BEGINS
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"(flags), "S"(stack_top), "d"(0L), "r"(r10), "r"(r8),
                       "r"(r9), "r"(r12)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

#undef FL_CHILD_BEGINS
