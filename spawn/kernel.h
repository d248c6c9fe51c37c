/* What the kernel has otherwise than libc, or libc not. Private. */
#ifndef FL_KERNEL_H
#define FL_KERNEL_H

#include <stdint.h>

enum { FL_SIGNALS = 64, FL_MASK_SIZE = 8 };

/* All zero: the default handler. */
struct fl_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/* Of this process, by capget and capset. */
struct fl_capabilities {
    uint32_t version;
    int pid; /* 0 */
    struct {
        uint32_t effective, permitted, inheritable;
    } data[2];
};
#define FL_CAPABILITY_VERSION 0x20080522u

#endif
