/*
 * Each write to a page that could not be written to: what was mapped before the fault and what
 * after it tells a copy from all else. Needs Linux 5.17 (bpf_find_vma), and the kernel's types
 * (BTF).
 */
#include "pages.bpf.h"
#include "user.bpf.h"
#include "process.bpf.h"
#include "cow.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum {
    FAULT_WRITE = 1 << 1,
    VM_SHARED = 0x8,
    VM_HUGETLB = 0x400000,
    SLOTS = 8,
    SLOT_SHIFT = 20,
    WAKE_NS = 4 * 1000 * 1000,
};

/* Set before the program is loaded. */
const volatile __u32 tracer; /* its pid, */
const volatile __u32 wanted; /* and that of the process that is to be followed; 0: a new one */

/* The tracer's next child is to be followed, from its exec on. */
volatile bool launching;
volatile __s64 alive;   /* processes that are followed, */
volatile __u64 members; /* and were ever */
volatile __u64 copies_made;
struct cow_lost lost;

/* For calibrate.c. */
struct cow_leaf looked_at;
__u64 table;

static __u64 last_wake;

#define NOWHERE (~0UL)

struct fault { /* that has begun */
    __u64 address, time;
    struct cow_leaf before;
    __u32 kernel; /* 1: the kernel wrote */
};

struct seen { /* a mapping */
    struct cow_key key;
    struct cow_mapping mapping;
    bool known;
    bool special; /* what is mapped comes from a file or a driver */
};

/* Looking for a mapping takes an interrupt of this very CPU: what was found is good until the
 * mappings of the process change. */
struct cached {
    struct mm_struct *mm;
    __u32 changes;
    struct seen seen;
};

struct thread {
    struct fault fault;
    struct cached cached[SLOTS];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

/* The processes that are followed, by the number that the kernel knows them by. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 16);
    __type(key, __s32);
    __type(value, struct cow_member);
} family SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 16);
    __type(key, struct cow_key);
    __type(value, struct cow_mapping);
} mappings SEC(".maps");

/* Two threads that write to one page at the same moment take two faults, but make one copy. */
struct page {
    __s32 tgid;
    __u32 unused;
    __u64 address, frame;
};
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1 << 12);
    __type(key, struct page);
    __type(value, __u64);
} copied SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, COW_RING);
} copies SEC(".maps");

/* Too large for a BPF program's own stack. The stack is read by pages: the last may be one too
 * many. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u8[sizeof(struct cow_copy) + COW_STACK + STEP]);
} record_room SEC(".maps");

static void count(__u64 *counter) {
    __sync_fetch_and_add(counter, 1);
}

/* A tracer that sleeps is woken for the first record in a while: wakes cost the program more than
 * all else here. */
static __u64 wake_flag(void) {
    __u64 now = bpf_ktime_get_ns();
    if (now - last_wake < WAKE_NS)
        return BPF_RB_NO_WAKEUP;
    last_wake = now;
    return BPF_RB_FORCE_WAKEUP;
}

/* ---- the family ---- */

static void follow(struct task_struct *process, bool launched) {
    struct cow_member member = {.pid = process_number(process), .launched = launched};
    __s32 tgid = BPF_CORE_READ(process, tgid);
    if (bpf_map_update_elem(&family, &tgid, &member, BPF_NOEXIST) == 0)
        __sync_fetch_and_add(&alive, 1), __sync_fetch_and_add(&members, 1);
    else if (!bpf_map_lookup_elem(&family, &tgid))
        count(&lost.processes);
}

static struct cow_member *find_member(struct task_struct *task) {
    __s32 tgid = BPF_CORE_READ(task, tgid);
    return bpf_map_lookup_elem(&family, &tgid);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child) {
    if (BPF_CORE_READ(parent, tgid) == BPF_CORE_READ(child, tgid))
        return 0; /* a thread */
    struct cow_member *member = find_member(parent);
    if (member)
        follow(child, member->launched);
    else if (launching && process_number(parent) == (__s32)tracer)
        follow(child, true);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task) {
    struct cow_member *member = find_member(task);
    bpf_task_storage_delete(&threads, bpf_get_current_task_btf());
    if (member)
        member->launched = 0;
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task) {
    __s32 tgid = BPF_CORE_READ(task, tgid);
    if (BPF_CORE_READ(task, signal, live.counter) > 0 || bpf_map_delete_elem(&family, &tgid))
        return 0;
    if (__sync_fetch_and_add(&alive, -1) == 1) {
        struct cow_copy nobody = {0};
        bpf_ringbuf_output(&copies, &nobody, sizeof nobody, BPF_RB_FORCE_WAKEUP);
    }
    return 0;
}

/* Read by the tracer until it finds nobody new: the process that it was asked for, and descendants.
 */
SEC("iter/task")
int adopt(struct bpf_iter__task *ctx) {
    enum { PF_KTHREAD = 0x200000 };
    struct task_struct *task = ctx->task;
    if (!task || BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid) ||
        BPF_CORE_READ(task, flags) & PF_KTHREAD || BPF_CORE_READ(task, signal, live.counter) == 0 ||
        find_member(task))
        return 0;
    if (process_number(task) == (__s32)wanted || find_member(BPF_CORE_READ(task, real_parent)))
        follow(task, false);
    return 0;
}

/* ---- a fault begins ---- */

static int begin(__u64 address, __u64 error, __u32 kernel) {
    struct task_struct *task = bpf_get_current_task_btf();
    struct cow_member *member = find_member(task);
    struct mm_struct *mm = BPF_CORE_READ(task, mm);
    if (!member || member->launched || !mm || address >= BPF_CORE_READ(mm, task_size))
        return 0;
    bool write = error & FAULT_WRITE;
    struct thread *thread =
        bpf_task_storage_get(&threads, task, NULL, write ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
    if (!thread || !write) {
        if (thread)
            thread->fault.address = NOWHERE;
        else if (write)
            count(&lost.faults);
        return 0;
    }
    struct fault *fault = &thread->fault;
    fault->address = address;
    fault->time = bpf_ktime_get_ns();
    fault->before = find_leaf(mm, address);
    fault->kernel = kernel;
    return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(begin_user, unsigned long address, struct pt_regs *regs, unsigned long error) {
    return begin(address, error, 0);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(begin_kernel, unsigned long address, struct pt_regs *regs, unsigned long error) {
    return begin(address, error, 1);
}

/* ---- and ends ---- */

static void name_mapping(struct vm_area_struct *vma, struct seen *seen) {
    struct cow_mapping *m = &seen->mapping;
    struct file *file = BPF_CORE_READ(vma, vm_file);
    struct mm_struct *mm = BPF_CORE_READ(vma, vm_mm);
    __u64 stack = BPF_CORE_READ(mm, start_stack);
    if (file) {
        seen->key.inode = BPF_CORE_READ(file, f_inode, i_ino);
        seen->key.device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
        seen->key.offset = BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
        const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
        bpf_probe_read_kernel_str(m->name, sizeof m->name, name);
    } else if (seen->key.start <= BPF_CORE_READ(mm, brk) &&
               m->end >= BPF_CORE_READ(mm, start_brk)) {
        m->place = COW_HEAP;
    } else if (seen->key.start <= stack && m->end >= stack) {
        m->place = COW_MAIN_STACK;
    } else if (bpf_core_field_exists(vma->anon_name) && BPF_CORE_READ(vma, anon_name)) {
        struct anon_vma_name *name = BPF_CORE_READ(vma, anon_name);
        bpf_probe_read_kernel_str(m->name, sizeof m->name, name->name);
    }
}

static long look_at_mapping(struct task_struct *task, struct vm_area_struct *vma, void *argument) {
    struct seen *seen = argument;
    seen->known = true;
    seen->key.start = BPF_CORE_READ(vma, vm_start);
    seen->special = BPF_CORE_READ(vma, vm_ops);
    seen->mapping.end = BPF_CORE_READ(vma, vm_end);
    seen->mapping.flags = BPF_CORE_READ(vma, vm_flags);
    name_mapping(vma, seen);
    return 0;
}

/* False: this kernel does not count, or they are being changed just now. */
static bool count_changes(struct mm_struct *mm, __u32 *changes) {
    struct mm_struct___seqcount *new = (void *)mm;
    struct mm_struct___number *old = (void *)mm;
    if (bpf_core_field_exists(new->mm_lock_seq.sequence)) {
        *changes = BPF_CORE_READ(new, mm_lock_seq.sequence);
        return !(*changes & 1);
    }
    if (!bpf_core_field_exists(old->mm_lock_seq))
        return false;
    *changes = (__u32)BPF_CORE_READ(old, mm_lock_seq);
    return true;
}

static void find_mapping(struct task_struct *task, struct thread *thread, __u64 address,
                         struct seen *seen) {
    struct mm_struct *mm = BPF_CORE_READ(task, mm);
    struct cached *cached = &thread->cached[address >> SLOT_SHIFT & (SLOTS - 1)];
    __u32 changes = 0;
    bool counted = count_changes(mm, &changes);
    if (counted && cached->mm == mm && cached->changes == changes &&
        address >= cached->seen.key.start && address < cached->seen.mapping.end) {
        *seen = cached->seen;
        return;
    }
    bpf_find_vma(task, address, look_at_mapping, seen, 0);
    cached->mm = NULL;
    if (!counted || !seen->known)
        return;
    cached->seen = *seen;
    cached->changes = changes;
    cached->mm = mm;
}

/* Whether another thread's fault, which ended after this one had begun, made this very copy. */
static bool is_other_threads(const struct fault *fault, const struct cow_leaf *after) {
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 now = bpf_ktime_get_ns();
    if (BPF_CORE_READ(task, signal, nr_threads) == 1)
        return false;
    struct page page = {.tgid = BPF_CORE_READ(task, tgid),
                        .address = fault->address >> PAGE_SHIFT,
                        .frame = frame_of(after, fault->address)};
    if (bpf_map_update_elem(&copied, &page, &now, BPF_NOEXIST) == 0)
        return false;
    __u64 *when = bpf_map_lookup_elem(&copied, &page);
    if (!when)
        return false;
    __u64 other = *when;
    return other > fault->time || __sync_val_compare_and_swap(when, other, now) != other;
}

enum { NOTHING = COW_KINDS };

static __u32 judge(const struct fault *fault, const struct cow_leaf *after, struct seen *seen) {
    const struct cow_leaf *before = &fault->before;
    bool shared = seen->mapping.flags & VM_SHARED;
    __u64 old = frame_of(before, fault->address);
    if (!(before->entry & PAGE_PRESENT)) {
        if (before->entry & PAGE_NONE)
            return NOTHING;
        if (before->entry)
            return shared ? NOTHING : COW_UNKNOWN;
        /* A file's page is copied at once; other memory begins here. */
        bool copy = seen->special && !shared && !(seen->mapping.flags & VM_HUGETLB);
        return copy && !is_other_threads(fault, after) ? COW_COPY : NOTHING;
    }
    if (shared)
        return COW_SHARED;
    if (old == frame_of(after, fault->address))
        return seen->known ? COW_REUSE : COW_UNKNOWN;
    if (old == memory.zero || (before->shift > PAGE_SHIFT && memory.huge_zero &&
                               (before->entry & memory.mask) >> 21 == memory.huge_zero >> 21))
        return COW_ZERO;
    return is_other_threads(fault, after) ? NOTHING : COW_COPY;
}

static void add(const struct seen *seen, __u32 kind, __u32 kernel, __u64 bytes) {
    struct cow_mapping *m = bpf_map_lookup_elem(&mappings, &seen->key);
    if (!m) {
        bpf_map_update_elem(&mappings, &seen->key, &seen->mapping, BPF_NOEXIST);
        m = bpf_map_lookup_elem(&mappings, &seen->key);
    }
    if (!m || kind >= COW_KINDS) {
        count(&lost.mappings);
        return;
    }
    count(&m->faults[kind][kernel & 1]);
    if (kind == COW_COPY)
        __sync_fetch_and_add(&m->copied, bytes);
}

/* From the stack pointer on, to the end of its mapping: to read past it would take a fault. Above
 * the main thread's stack are its arguments and environment. How many bytes. */
static __u32 copy_rest(struct task_struct *task, struct thread *thread, __u64 from, __u8 *to) {
    struct seen stack = {0};
    find_mapping(task, thread, from, &stack);
    __u64 begun = task->mm->start_stack, end = stack.mapping.end;
    if (begun > from && begun < end)
        end = begun;
    __u64 rest = end - from;
    if (!stack.known || rest > COW_STACK)
        rest = COW_STACK;
    if (bpf_probe_read_user(to, (__u32)rest, (void *)from) == 0)
        return (__u32)rest;
    return copy_stack(to, COW_STACK, from, task->mm);
}

static void send_stack(struct task_struct *task, struct thread *thread, __s32 pid) {
    const struct fault *fault = &thread->fault;
    __u32 zero = 0, length;
    struct cow_copy *r = bpf_map_lookup_elem(&record_room, &zero);
    if (!r)
        return;
    r->time = fault->time;
    r->pid = pid;
    r->kernel = fault->kernel;
    BPF_CORE_READ_STR_INTO(&r->program, task, group_leader, comm);
    r->registers[REGISTER_IP] = length = 0;
    /* 32-bit programs have other registers. */
    if (BPF_CORE_READ(task, mm, task_size) >> 32) {
        __u64 top = copy_registers((struct pt_regs *)bpf_task_pt_regs(task), r->registers);
        length = copy_rest(task, thread, top, r->stack);
    }
    if (length > COW_STACK) /* for the verifier */
        length = COW_STACK;
    r->stack_length = length;
    if (bpf_ringbuf_output(&copies, r, sizeof *r + length, wake_flag()))
        count(&lost.stacks);
}

static void end(struct task_struct *task, struct thread *thread) {
    const struct fault *fault = &thread->fault;
    struct mm_struct *mm = BPF_CORE_READ(task, mm);
    struct cow_leaf after = find_leaf(mm, fault->address);
    const __u64 writable = PAGE_PRESENT | PAGE_WRITE;
    if ((after.entry & writable) != writable || (fault->before.entry & writable) == writable ||
        after.error || fault->before.error)
        return;
    struct seen seen = {.key = {.pid = process_number(task)}};
    find_mapping(task, thread, fault->address, &seen);
    __u32 kind = judge(fault, &after, &seen);
    if (kind == NOTHING)
        return;
    if (kind == COW_COPY)
        __sync_fetch_and_add(&copies_made, 1);
    add(&seen, kind, fault->kernel, 1UL << (after.shift & 63));
    if (kind == COW_COPY)
        send_stack(task, thread, seen.key.pid);
}

/* <linux/bpf_perf_event.h> has it, and another struct pt_regs. */
struct event {
    unsigned long registers[21];
    __u64 period, address;
};

SEC("perf_event")
int end_fault(struct event *ctx) {
    struct task_struct *task = bpf_get_current_task_btf();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (!thread || thread->fault.address != ctx->address)
        return 0;
    end(task, thread);
    thread->fault.address = NOWHERE;
    return 0;
}

/* Run by calibrate.c, of its own memory. */
SEC("raw_tp/look")
int look(struct bpf_raw_tracepoint_args *ctx) {
    struct task_struct *task = bpf_get_current_task_btf();
    table = (__u64)BPF_CORE_READ(task, mm, pgd);
    looked_at = find_leaf(BPF_CORE_READ(task, mm), ctx->args[0]);
    return 0;
}
