/* The number of a process, as the tracer knows it. */
#ifndef PROCESS_BPF_H
#define PROCESS_BPF_H

#include "types.bpf.h"

/* Set before the program is loaded: the inode of the tracer's pid namespace, whose numbers count.
 */
const volatile __u32 view;

enum { PID_LEVELS = 32 }; /* MAX_PID_NS_LEVEL */

/* 0: it is outside that namespace. */
static __s32 process_number(struct task_struct *task) {
    struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
    __u32 level = BPF_CORE_READ(pid, level);
    struct upid *numbers = __builtin_preserve_access_index(&pid->numbers[0]);
    for (__u32 i = 0; i < PID_LEVELS && i <= level; i++) {
        struct pid_namespace *ns = BPF_CORE_READ(&numbers[i], ns);
        if (BPF_CORE_READ(ns, ns.inum) == view)
            return BPF_CORE_READ(&numbers[i], nr);
    }
    return 0;
}

#endif
