/* The registers and the stack of the program that runs, for unwinding outside the kernel. */
#ifndef USER_BPF_H
#define USER_BPF_H

#include "types.bpf.h"

/* As DWARF numbers them: on x86_64 the sixteen and the return address, on aarch64 x0 to x30, sp and
 * pc. Gives the stack pointer. */
#if defined(__TARGET_ARCH_x86)
static __u64 copy_registers(struct pt_regs *regs, __u64 *to) {
    to[0] = BPF_CORE_READ(regs, ax);
    to[1] = BPF_CORE_READ(regs, dx);
    to[2] = BPF_CORE_READ(regs, cx);
    to[3] = BPF_CORE_READ(regs, bx);
    to[4] = BPF_CORE_READ(regs, si);
    to[5] = BPF_CORE_READ(regs, di);
    to[6] = BPF_CORE_READ(regs, bp);
    to[7] = BPF_CORE_READ(regs, sp);
    to[8] = BPF_CORE_READ(regs, r8);
    to[9] = BPF_CORE_READ(regs, r9);
    to[10] = BPF_CORE_READ(regs, r10);
    to[11] = BPF_CORE_READ(regs, r11);
    to[12] = BPF_CORE_READ(regs, r12);
    to[13] = BPF_CORE_READ(regs, r13);
    to[14] = BPF_CORE_READ(regs, r14);
    to[15] = BPF_CORE_READ(regs, r15);
    to[16] = BPF_CORE_READ(regs, ip);
    return to[7];
}
#elif defined(__TARGET_ARCH_arm64)
static __u64 copy_registers(struct pt_regs *regs, __u64 *to) {
    bpf_probe_read_kernel(to, 33 * sizeof *to, &regs->user_regs);
    return to[31];
}
#endif

/* From `from` as far as there is memory, at most `size` bytes, a multiple of 4096; how many. */
static __u32 copy_stack(__u8 *to, __u32 size, __u64 from) {
    enum { STEP = 4096 };
    if (size > 0 && bpf_probe_read_user(to, size, (void *)from) == 0)
        return size;
    __u32 done = 0;
    for (int i = 0; i < 16 && done + STEP <= size; i++) {
        __u32 part = STEP - (__u32)(from & (STEP - 1));
        if (part > STEP || bpf_probe_read_user(to + done, part, (void *)from))
            break;
        done += part;
        from += part;
    }
    return done;
}

#endif
