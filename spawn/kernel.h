/* Signals as the kernel has them, and libc not. Private. */
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

#endif
