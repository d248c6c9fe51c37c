/* The smallest program there is: no libc, three system calls, or with SILENT one. */
#include <stddef.h>
#include <time.h>

#include "arch/syscall.h"
#include "target.h"

_Noreturn void _start(void);

void _start(void) {
#ifndef SILENT
    struct timespec now;
    fl_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0);
    target_stamp stamp = (target_stamp)now.tv_sec * 1000000000u + (target_stamp)now.tv_nsec;
    fl_syscall(SYS_write, 1, (long)&stamp, sizeof stamp, 0, 0);
#endif
    for (;;)
        fl_syscall(SYS_exit_group, TARGET_STATUS, 0, 0, 0, 0);
}
