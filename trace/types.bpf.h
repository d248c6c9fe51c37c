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
    unsigned long *pgd;
    unsigned long task_size, start_brk, brk, start_stack;
    atomic_long_t pgtables_bytes;
    int map_count;
    struct percpu_counter rss_stat[4];
};

/* Counts how often the mappings were locked to be changed; Linux 6.13, and 6.4 to 6.12. */
struct seqcount {
    unsigned sequence;
};
struct mm_struct___seqcount {
    struct seqcount mm_lock_seq;
};
struct mm_struct___number {
    int mm_lock_seq;
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
    unsigned flags;
    struct task_struct *real_parent;
    int exit_code;
    int pid, tgid;
    struct task_struct *group_leader;
    struct pid *thread_pid;
    struct mm_struct *mm;
    struct signal_struct *signal;
    __u64 start_time, start_boottime, self_exec_id;
    char comm[16];
};

struct bpf_array {
    void *pptrs[1];
};

struct qstr {
    const unsigned char *name;
};

struct super_block {
    __u32 s_dev;
};

struct inode {
    unsigned long i_ino;
    struct super_block *i_sb;
};

struct dentry {
    struct qstr d_name;
};

struct path {
    struct dentry *dentry;
};

struct file {
    struct inode *f_inode;
    struct path f_path;
};

/* Since Linux 5.17. */
struct anon_vma_name {
    char name[1];
};

struct vm_area_struct {
    unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
    struct mm_struct *vm_mm;
    const void *vm_ops;
    struct file *vm_file;
    struct anon_vma_name *anon_name;
};

/* Of an iterator. */
struct bpf_iter__task {
    struct task_struct *task;
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
