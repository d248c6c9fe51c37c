/*
 * Each creation of a process: the call with its caller's memory and stack, and what the child did
 * first. Needs Linux 5.18 (bpf_map_lookup_percpu_elem), and the kernel's types (BTF).
 */
#include "creating.bpf.h"
#include "followed.bpf.h"
#include "resident.bpf.h"
#include "types.bpf.h"
#include "user.bpf.h"
#include "spawns.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum {
    CLONE_THREAD = 0x00010000,
    CLONE_VM = 0x00000100,
    CLONE_VFORK = 0x00004000,
    RING = 8 << 20,
    WAKE_NS = 20 * 1000 * 1000,
};

/* Set before the program is loaded: */
const volatile __u64 least_call; /* ns; the stacks of shorter calls are not needed */

struct spawn_lost lost;

static __u64 last_id, last_wake;
static bool any_attempts; /* few programs fail to exec: most need not look for theirs */

struct call {
    __u64 asked; /* 0: none at present */
    __u64 id, flags;
    __u32 call;
    __s32 child;
    bool launch; /* the tracer's own */
};

struct attempt {
    __s32 error;
    char path[SPAWN_PATH];
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING);
} records SEC(".maps");

/* By the thread that is in one, or was: a place that is kept is taken faster. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 16);
    __type(key, __s32);
    __type(value, struct call);
} calls SEC(".maps");

/* The last exec that failed of a child that has neither exec'd nor ended. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 15);
    __type(key, __s32);
    __type(value, struct attempt);
} attempts SEC(".maps");

/* By process: when it began and the count of its execs, at its last creation. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1 << 12);
    __type(key, __s32);
    __type(value, __u64);
} known SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1 << 14);
    __type(key, struct known_key);
    __type(value, struct known_stack);
} known_stacks SEC(".maps");

/* A record with its stack is too large for a BPF program's own stack. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u8[sizeof(struct spawn_created) + SPAWN_STACK + STEP]);
} room SEC(".maps");

static __u64 next_id(void) {
    return __sync_fetch_and_add(&last_id, 1) + 1;
}

/* A tracer that sleeps is woken for the first record in a while, and reads more often than the ring
 * fills: wakes cost the programs that are traced more than all else here. */
static __u64 wake_flag(__u64 now, bool soon) {
    if (!soon && now - last_wake < WAKE_NS)
        return BPF_RB_NO_WAKEUP;
    last_wake = now;
    return BPF_RB_FORCE_WAKEUP;
}

static void keep(void *map, const void *key, const void *value) {
    if (bpf_map_update_elem(map, key, value, BPF_ANY))
        __sync_fetch_and_add(&lost.entries, 1);
}

static void send(void *record, __u64 size, __u64 flags) {
    if (bpf_ringbuf_output(&records, record, size, flags))
        __sync_fetch_and_add(&lost.records, 1);
}

/* ---- the call ---- */

static __u64 asked_flags(const struct asked *asked) {
    __u64 flags = 0;
    switch (asked->call) {
    case CALL_VFORK:
        return CLONE_VM | CLONE_VFORK;
    case CALL_CLONE:
        return asked->first & ~0xffUL; /* without the signal at exit */
    case CALL_CLONE3:                  /* struct clone_args begins with them */
        bpf_probe_read_user(&flags, sizeof flags, (void *)asked->first);
        return flags;
    default:
        return 0;
    }
}

static void begin_call(struct task_struct *task, const struct asked *asked) {
    struct call call = {.call = asked->call};
    __s32 tid = number(task), pid = process_number(task);
    call.launch = launching && pid == (__s32)tracer;
    if (!tid || !(call.launch || is_followed(pid)))
        return;
    call.flags = asked_flags(asked);
    if (call.flags & CLONE_THREAD)
        return;
    call.asked = bpf_ktime_get_ns();
    struct call *place = bpf_map_lookup_elem(&calls, &tid);
    if (place)
        *place = call;
    else
        keep(&calls, &tid, &call);
}

static struct call *find_call(struct task_struct *task) {
    __s32 tid = number(task);
    struct call *call = bpf_map_lookup_elem(&calls, &tid);
    return call && call->asked ? call : NULL;
}

static void fill(struct spawn_created *r, struct task_struct *task, const struct call *call,
                 long returned) {
    r->event = SPAWN_CREATED;
    r->id = call->id ? call->id : next_id();
    r->asked = call->asked;
    r->flags = call->flags;
    r->rss = resident(task->mm);
    r->page_tables = (__u64)task->mm->pgtables_bytes.counter;
    r->mappings = (__u32)task->mm->map_count;
    r->threads = (__u32)task->signal->nr_threads;
    r->call = call->call;
    r->error = call->id ? 0 : (__s32)-returned;
    r->pid = process_number(task);
    r->tid = number(task);
    r->child = call->child;
    r->compat = is_compat(task);
    r->started = task->group_leader->start_boottime;
    r->execs = task->self_exec_id;
    bpf_probe_read_kernel_str(r->name, sizeof r->name, task->group_leader->comm);
    bpf_probe_read_kernel_str(r->thread, sizeof r->thread, task->comm);
}

/* A signal came first: the kernel makes the same call again after it. */
static bool is_restart(long returned) {
    enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };
    return returned <= -ERESTARTSYS && returned >= -ERESTART_RESTARTBLOCK;
}

/* Its names can be read only as long as it lives: the tracer is woken for its first creation. */
static bool is_new_program(const struct spawn_created *r) {
    __u64 now = r->started + r->execs, *before = bpf_map_lookup_elem(&known, &r->pid);
    if (before && *before == now)
        return false;
    bpf_map_update_elem(&known, &r->pid, &now, BPF_ANY);
    return true;
}

/* A read takes its time, whatever its length: most words come with one. */
static bool is_same(const struct known_stack *stack, struct spawn_created *r) {
    __u64 word, sp = r->registers[REGISTER_SP];
    __u32 near = stack->near;
    if (stack->link >= 0 && stack->link < REGISTERS && r->registers[stack->link] != stack->linked)
        return false;
    if (near > KNOWN_NEAR || bpf_probe_read_user(r->stack, near, (void *)sp))
        return false;
    for (__u32 i = 0; i < KNOWN_PLACES && i < stack->count; i++) {
        __u32 at = stack->offsets[i];
        if (at + sizeof word <= near && at <= KNOWN_NEAR - sizeof word)
            word = *(__u64 *)(r->stack + at);
        else if (bpf_probe_read_user(&word, sizeof word, (void *)(sp + at)))
            return false;
        if (word != stack->words[i])
            return false;
    }
    return true;
}

/* Of the stack that the program has now; 0: none is known. */
static __u64 known_trail(struct spawn_created *r) {
    struct known_key key = {.pid = r->pid,
                            .started = r->started,
                            .execs = r->execs,
                            .ip = r->registers[REGISTER_IP],
                            .sp = r->registers[REGISTER_SP]};
    for (__u32 nth = 0; nth < KNOWN_ALIKE; nth++) {
        key.nth = nth;
        const struct known_stack *stack = bpf_map_lookup_elem(&known_stacks, &key);
        if (!stack)
            return 0;
        if (is_same(stack, r))
            return stack->trail;
    }
    return 0;
}

/* Who called: their trail if it is known, else a copy of the stack; its length. */
static __u32 take_stack(struct spawn_created *r, struct pt_regs *regs, const struct mm_struct *mm) {
    __u64 at = copy_registers(regs, r->registers);
    r->trail = known_trail(r);
    if (r->trail)
        return 0;
    if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) < RING / 2)
        return copy_stack(r->stack, SPAWN_STACK, at, mm);
    __sync_fetch_and_add(&lost.stacks, 1);
    return 0;
}

/* Whatever takes time comes after `now`: it is no part of the call. `regs` is NULL when the caller
 * has ended. */
static void end_call(struct task_struct *task, struct call *call, struct pt_regs *regs,
                     long returned, __u64 now) {
    __u32 zero = 0, length = 0;
    struct spawn_created *r = bpf_map_lookup_elem(&room, &zero);
    if (!r)
        return;
    fill(r, task, call, returned);
    r->took = now - call->asked;
    r->ended = !regs;
    r->trail = 0;
    if (regs && !r->compat && r->took >= least_call)
        length = take_stack(r, regs, task->mm);
    if (length > SPAWN_STACK) /* for the verifier */
        length = SPAWN_STACK;
    r->stack_length = length;
    send(r, r->trail ? offsetof(struct spawn_created, registers) : sizeof *r + length,
         wake_flag(now, length && is_new_program(r)));
}

/* ---- what the child did first ---- */

/* The creation of a process that has neither exec'd nor ended; NULL: that is not to be told. */
static __u64 *find_creation(__s32 pid) {
    __u64 *id = bpf_map_lookup_elem(&tree, &pid);
    return id && *id ? id : NULL;
}

static struct spawn_then *begin_then(__u64 id, __u32 did) {
    __u32 zero = 0;
    struct spawn_then *r = bpf_map_lookup_elem(&room, &zero);
    if (!r)
        return NULL;
    r->event = SPAWN_THEN;
    r->did = did;
    r->id = id;
    r->when = bpf_ktime_get_ns();
    r->status = r->error = 0;
    return r;
}

/* `length`: of its path, with the end. */
static void tell_then(struct spawn_then *r, long length) {
    if (length <= 0 || length > SPAWN_PATH) {
        r->path[0] = '\0';
        length = 1;
    }
    send(r, offsetof(struct spawn_then, path) + (__u64)length, wake_flag(r->when, false));
}

static void tell_exec(__u64 id, const char *path) {
    struct spawn_then *r = begin_then(id, DID_EXEC);
    if (r)
        tell_then(r, bpf_probe_read_kernel_str(r->path, sizeof r->path, path));
}

static void tell_exit(__u64 id, __s32 pid, __s32 status) {
    struct spawn_then *r = begin_then(id, DID_EXIT);
    if (!r)
        return;
    struct attempt *attempt = any_attempts ? bpf_map_lookup_elem(&attempts, &pid) : NULL;
    r->status = status;
    if (attempt)
        r->error = attempt->error;
    tell_then(r, attempt ? bpf_probe_read_kernel_str(r->path, sizeof r->path, attempt->path) : 0);
}

static void note_attempt(__s32 pid, __s32 error, const char *path) {
    struct attempt attempt = {.error = error};
    if (!find_creation(pid))
        return;
    bpf_probe_read_user_str(attempt.path, sizeof attempt.path, path);
    any_attempts = true;
    keep(&attempts, &pid, &attempt);
}

static void forget_attempts(__s32 pid) {
    if (any_attempts)
        bpf_map_delete_elem(&attempts, &pid);
}

/* ---- where the kernel calls us ---- */

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long nr) {
    struct asked asked;
    if (!is_of_interest(nr))
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    if (is_creation(regs, nr, is_compat(task), &asked))
        begin_call(task, &asked);
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long returned) {
    struct asked asked;
    long nr = call_number(regs);
    if (!is_of_interest(nr))
        return 0;
    __u64 now = bpf_ktime_get_ns();
    struct task_struct *task = bpf_get_current_task_btf();
    bool compat = is_compat(task);
    if (is_creation(regs, nr, compat, &asked)) {
        struct call *call = find_call(task);
        if (!call)
            return 0;
        if (!call->launch && !is_restart(returned))
            end_call(task, call, regs, returned, now);
        call->asked = 0;
    } else if (returned < 0 && is_exec(nr, compat)) {
        note_attempt(process_number(task), (__s32)-returned, executed_path(regs, nr, compat));
    }
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(created, struct task_struct *parent, struct task_struct *task) {
    __s32 pid = number(task);
    struct call *call = find_call(parent);
    if (task->tgid == parent->tgid) {
        /* A thread after all: the arguments of clone3 could not be read. */
        if (call)
            call->asked = 0;
        return 0;
    }
    __u64 id = 0;
    if (call && !call->launch) {
        id = call->id = creation_id(task);
        call->child = pid;
        if (task->mm == parent->mm)
            call->flags |= CLONE_VM;
    }
    if (id || (!whole_host && (call || is_followed(process_number(parent)))))
        keep(&tree, &pid, &id);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task, int old_pid, struct linux_binprm *binary) {
    __s32 pid = process_number(task);
    __u64 *id = find_creation(pid);
    if (!id)
        return 0;
    tell_exec(*id, binary->filename);
    forget_attempts(pid);
    if (whole_host)
        bpf_map_delete_elem(&tree, &pid);
    else
        *id = 0;
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task) {
    __s32 tid = number(task), pid = process_number(task);
    struct call *call = bpf_map_lookup_elem(&calls, &tid);
    if (call) {
        if (call->asked && call->id)
            end_call(task, call, NULL, 0, bpf_ktime_get_ns());
        bpf_map_delete_elem(&calls, &tid);
    }
    if (task->signal->live.counter > 0) /* of its threads */
        return 0;
    __u64 *id = bpf_map_lookup_elem(&tree, &pid);
    if (!id)
        return 0;
    if (*id) {
        tell_exit(*id, pid, task->exit_code);
        forget_attempts(pid);
    }
    bpf_map_delete_elem(&tree, &pid);
    return 0;
}
