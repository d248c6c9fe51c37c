/* The registers and the stack of the program that runs, for unwinding outside the kernel. */
#ifndef USER_BPF_H
#define USER_BPF_H

#include "types.bpf.h"

/* As DWARF numbers them: on x86_64 the sixteen and the return address, on aarch64 x0 to x30, sp and
 * pc. Gives the stack pointer. */
#if defined(__TARGET_ARCH_x86)
static __u64 copy_registers(struct pt_regs *regs, __u64 *to) {
    to[0] = regs->ax;
    to[1] = regs->dx;
    to[2] = regs->cx;
    to[3] = regs->bx;
    to[4] = regs->si;
    to[5] = regs->di;
    to[6] = regs->bp;
    to[7] = regs->sp;
    to[8] = regs->r8;
    to[9] = regs->r9;
    to[10] = regs->r10;
    to[11] = regs->r11;
    to[12] = regs->r12;
    to[13] = regs->r13;
    to[14] = regs->r14;
    to[15] = regs->r15;
    to[16] = regs->ip;
    return to[7];
}
#elif defined(__TARGET_ARCH_arm64)
static __u64 copy_registers(struct pt_regs *regs, __u64 *to) {
    bpf_probe_read_kernel(to, 33 * sizeof *to, &regs->user_regs);
    return to[31];
}
#endif

enum { STEP = 4096 };

/* The stack of the program that runs, from `from` to its end, at most `size` bytes; how many. `to`
 * has STEP bytes more. A read beyond what is mapped takes as long as all the rest, so that where
 * the end is known nothing is tried there. */
static __u32 copy_stack(__u8 *to, __u32 size, __u64 from, const struct mm_struct *mm) {
    __u64 end = mm->start_stack;
    __u32 done = 0;
    if (end > from && end - from < size)
        size = (__u32)(end - from);
    for (int i = 0; i < 16 && done < size; i++) {
        __u32 part = STEP - (__u32)(from & (STEP - 1));
        if (part > size - done)
            part = size - done;
        if (part > STEP || bpf_probe_read_user(to + done, part, (void *)from))
            break;
        done += part;
        from += part;
    }
    return done;
}

#endif
