/* Which processes are followed, and the numbers that the tracer knows them by. */
#ifndef FOLLOWED_BPF_H
#define FOLLOWED_BPF_H

#include "types.bpf.h"

enum {
    LEVELS = 32,                    /* of pid namespaces; MAX_PID_NS_LEVEL */
    PROC_PID_INIT_INO = 0xeffffffc, /* the first one */
};

/* Set before the program is loaded. */
const volatile __u32 view;      /* the inode of the tracer's pid namespace: whose numbers count */
const volatile __u32 tracer;    /* its pid */
const volatile bool whole_host; /* else the processes in `tree` */

/* The tracer's next child belongs to the tree, and is not itself a creation. */
volatile bool launching;

/* By process: what else is to be known of it, or 0. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 16);
    __type(key, __s32);
    __type(value, __u64);
} tree SEC(".maps");

/* ---- a task, by direct reads: they cost a tenth of bpf_probe_read_kernel() ---- */

static __s32 number_in_view(struct pid *pid) {
    struct upid *numbers = __builtin_preserve_access_index(&pid->numbers[0]);
    __u32 level = BPF_CORE_READ(pid, level);
    for (__u32 i = 0; i < LEVELS && i <= level; i++) {
        struct pid_namespace *ns = BPF_CORE_READ(&numbers[i], ns);
        if (BPF_CORE_READ(ns, ns.inum) == view)
            return BPF_CORE_READ(&numbers[i], nr);
    }
    return 0;
}

/* The number that the tracer knows a thread by; 0: it is outside its pid namespace. */
static __s32 number(struct task_struct *task) {
    return view == PROC_PID_INIT_INO ? task->pid : number_in_view(task->thread_pid);
}

/* The same of its process. */
static __s32 process_number(struct task_struct *task) {
    return view == PROC_PID_INIT_INO ? task->tgid : number_in_view(task->group_leader->thread_pid);
}

static bool is_followed(__s32 pid) {
    return whole_host ? pid != (__s32)tracer : bpf_map_lookup_elem(&tree, &pid) != NULL;
}

/* Of a child's creation: the same for all who look at it. No two that live within an hour have the
 * same. */
static __u64 creation_id(struct task_struct *child) {
    return child->start_time ^ (__u64)child->tgid << 42;
}

#endif
