/*
 * The fields of kernel types that BPF programs here read. libbpf finds where they are on the
 * running kernel (CO-RE), so that a build needs no kernel's description of its types.
 */
#ifndef TYPES_BPF_H
#define TYPES_BPF_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
    int counter;
} atomic_t;

typedef struct {
    long counter;
} atomic_long_t;

struct ns_common {
    unsigned inum;
};

struct pid_namespace {
    struct ns_common ns;
};

struct upid {
    int nr;
    struct pid_namespace *ns;
};

struct pid {
    unsigned level;
    struct upid numbers[];
};

struct percpu_counter {
    __s64 count;
    __s32 *counters;
};

struct mm_struct {
    atomic_long_t pgtables_bytes;
    int map_count;
    unsigned long start_stack;
    struct percpu_counter rss_stat[4];
};

/* Before Linux 6.2. */
struct mm_rss_stat {
    atomic_long_t count[4];
};
struct mm_struct___atomic {
    struct mm_rss_stat rss_stat;
};

struct signal_struct {
    atomic_t live;
    int nr_threads;
};

struct thread_info {
    unsigned long flags;
    __u32 status;
};

struct task_struct {
    struct thread_info thread_info;
    int exit_code;
    int pid, tgid;
    struct task_struct *group_leader;
    struct pid *thread_pid;
    struct mm_struct *mm;
    struct signal_struct *signal;
    __u64 start_boottime, self_exec_id;
    char comm[16];
};

struct bpf_array {
    void *pptrs[1];
};

struct linux_binprm {
    const char *filename;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
    unsigned long orig_ax, ip, flags, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
    __u64 regs[31], sp, pc;
};
struct pt_regs {
    union {
        struct user_pt_regs user_regs;
        struct {
            __u64 regs[31], sp, pc;
        };
    };
    int syscallno;
};
#endif

#pragma clang attribute pop

#endif
