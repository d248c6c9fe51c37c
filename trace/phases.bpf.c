/*
 * The phases of each creation of a process: when the kernel came to what. Needs Linux 5.18
 * (sched_switch with the state of who leaves), and the kernel's types (BTF).
 */
#include "creating.bpf.h"
#include "followed.bpf.h"
#include "types.bpf.h"
#include "phases.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { RING = 4 << 20, PF_FORKNOEXEC = 0x40 };

struct phases_lost lost;

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING);
} records SEC(".maps");

struct call {
    __u64 asked; /* 0: it is the tracer's own */
    __s32 child;
    __s32 unused;
};

/* By the thread that is in one, as the kernel numbers it. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 13);
    __type(key, __s32);
    __type(value, struct call);
} calls SEC(".maps");

/* By process, as the kernel numbers it: those that have not been reaped. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 15);
    __type(key, __s32);
    __type(value, struct phases_record);
} children SEC(".maps");

struct name {
    __u32 view; /* the inode of a pid namespace */
    __s32 pid;  /* in it */
};

/* Those that have ended and whose parents know them by another number. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1 << 13);
    __type(key, struct name);
    __type(value, __s32);
} names SEC(".maps");

static void keep(void *map, const void *key, const void *value) {
    if (bpf_map_update_elem(map, key, value, BPF_ANY))
        __sync_fetch_and_add(&lost.entries, 1);
}

static struct phases_record *find(__s32 pid) {
    return bpf_map_lookup_elem(&children, &pid);
}

/* It has not exec'd; most of what a host runs has. */
static struct phases_record *find_before_exec(struct task_struct *task) {
    return task->flags & PF_FORKNOEXEC ? find(task->tgid) : NULL;
}

static void tell(__s32 pid, const struct phases_record *child) {
    if (bpf_ringbuf_output(&records, (void *)child, sizeof *child, BPF_RB_NO_WAKEUP))
        __sync_fetch_and_add(&lost.records, 1);
    bpf_map_delete_elem(&children, &pid);
}

/* ---- the call ---- */

static void begin_call(struct task_struct *task) {
    __s32 pid = process_number(task), tid = task->pid;
    struct call call = {0};
    bool launch = launching && pid == (__s32)tracer;
    if (!launch && !(pid && is_followed(pid)))
        return;
    if (!launch)
        call.asked = bpf_ktime_get_ns();
    keep(&calls, &tid, &call);
}

static void end_call(struct task_struct *task, __u64 now) {
    __s32 tid = task->pid;
    struct call *call = bpf_map_lookup_elem(&calls, &tid);
    if (!call)
        return;
    struct phases_record *child = call->child ? find(call->child) : NULL;
    if (child && !child->when[MOMENT_RETURNED])
        child->when[MOMENT_RETURNED] = now;
    bpf_map_delete_elem(&calls, &tid);
}

/* In the child the same call returns 0. */
static void begin_child(struct task_struct *task, __u64 now) {
    struct phases_record *child = find_before_exec(task);
    if (child && !child->when[MOMENT_BEGAN])
        child->when[MOMENT_BEGAN] = now;
}

static void begin_target(struct task_struct *task, __u64 now) {
    struct phases_record *child = find(task->tgid);
    if (child && child->when[MOMENT_EXECED] && !child->when[MOMENT_READY])
        child->when[MOMENT_READY] = now;
}

/* ---- the wait ---- */

static struct name name_of(struct pid *pid, __u32 level) {
    struct upid *numbers = __builtin_preserve_access_index(&pid->numbers[0]);
    struct pid_namespace *ns = BPF_CORE_READ(&numbers[level], ns);
    return (struct name){BPF_CORE_READ(ns, ns.inum), BPF_CORE_READ(&numbers[level], nr)};
}

static void note_name(struct task_struct *task) {
    __s32 pid = task->tgid;
    __u32 level = BPF_CORE_READ(task, real_parent, thread_pid, level);
    if (level == 0)
        return;
    struct name name = name_of(task->thread_pid, level);
    bpf_map_update_elem(&names, &name, &pid, BPF_ANY);
}

/* The number that a child's reaper has for it becomes the kernel's own. */
static __s32 look_up_name(struct task_struct *task, __s32 pid) {
    __u32 level = BPF_CORE_READ(task, thread_pid, level);
    if (level == 0)
        return pid;
    struct name name = name_of(task->thread_pid, level);
    name.pid = pid;
    __s32 *found = bpf_map_lookup_elem(&names, &name);
    return found ? *found : 0;
}

static void end_wait(struct task_struct *task, __s32 pid, __u64 now) {
    pid = pid > 0 ? look_up_name(task, pid) : 0;
    struct phases_record *child = pid ? find(pid) : NULL;
    if (!child || !child->when[MOMENT_EXITED])
        return;
    child->when[MOMENT_REAPED] = now;
    tell(pid, child);
}

/* ---- where the kernel calls us ---- */

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long nr) {
    struct asked asked;
    struct phases_record *child;
    if (!is_of_interest(nr))
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    bool compat = is_compat(task);
    if (is_creation(regs, nr, compat, &asked))
        begin_call(task);
    else if (is_exec(nr, compat) && (child = find_before_exec(task)))
        child->when[MOMENT_EXEC_CALLED] = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long returned) {
    struct asked asked;
    long nr = call_number(regs);
    bool wait = is_wait(nr);
    if (!wait && !is_of_interest(nr))
        return 0;
    __u64 now = bpf_ktime_get_ns();
    struct task_struct *task = bpf_get_current_task_btf();
    bool compat = is_compat(task);
    if (wait)
        end_wait(task, waited_for(regs, nr, compat, returned), now);
    else if (is_creation(regs, nr, compat, &asked) && returned)
        end_call(task, now);
    else if (is_creation(regs, nr, compat, &asked))
        begin_child(task, now);
    else if (is_exec(nr, compat) && !returned)
        begin_target(task, now);
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(created, struct task_struct *parent, struct task_struct *task) {
    __s32 tid = parent->pid, pid = task->pid, seen = number(task);
    struct call *call = bpf_map_lookup_elem(&calls, &tid);
    if (task->tgid == parent->tgid)
        return 0;
    if (!whole_host && seen && ((call && !call->asked) || is_followed(process_number(parent)))) {
        __u64 nothing = 0;
        keep(&tree, &seen, &nothing);
    }
    if (!call || !call->asked)
        return 0;
    struct phases_record child = {.id = creation_id(task)}, *before = find(pid);
    if (before) /* nobody was seen to reap it */
        tell(pid, before);
    child.when[MOMENT_ASKED] = call->asked;
    child.when[MOMENT_CREATED] = child.runnable = bpf_ktime_get_ns();
    call->child = pid;
    keep(&children, &pid, &child);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task) {
    struct phases_record *child = find_before_exec(task);
    if (child && task->pid == task->tgid && !child->runnable)
        child->runnable = bpf_ktime_get_ns();
    return 0;
}

static void take_cpu(struct phases_record *child) {
    __u64 now = bpf_ktime_get_ns();
    if (!child->when[MOMENT_RAN] && !child->when[MOMENT_BEGAN]) /* else its first was missed */
        child->when[MOMENT_RAN] = now;
    if (child->runnable)
        child->waited += now - child->runnable;
    child->runnable = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempted, struct task_struct *from, struct task_struct *to,
             unsigned state) {
    struct phases_record *child;
    if ((preempted || !state) && from->pid == from->tgid && (child = find_before_exec(from)))
        child->runnable = bpf_ktime_get_ns();
    if (to->pid == to->tgid && (child = find_before_exec(to)))
        take_cpu(child);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task) {
    struct phases_record *child = find(task->tgid);
    if (child && !child->when[MOMENT_EXECED])
        child->when[MOMENT_EXECED] = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task) {
    __s32 tid = task->pid, seen = process_number(task);
    bpf_map_delete_elem(&calls, &tid);
    if (task->signal->live.counter > 0) /* of its threads */
        return 0;
    struct phases_record *child = find(task->tgid);
    if (child) {
        child->when[MOMENT_EXITED] = bpf_ktime_get_ns();
        note_name(task);
    }
    if (!whole_host)
        bpf_map_delete_elem(&tree, &seen);
    return 0;
}

/* Some time after it was reaped. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(freed, struct task_struct *task) {
    struct phases_record *child = task->pid == task->tgid ? find(task->pid) : NULL;
    if (child && child->id == creation_id(task))
        tell(task->pid, child);
    return 0;
}
