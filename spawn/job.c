#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "arch/syscall.h"
#include "exec/job.h"
#include "kernel.h"
#include "own.h"

enum {
    CLOEXEC = 1,    /* MFD_CLOEXEC */
    SEALABLE = 2,   /* MFD_ALLOW_SEALING */
    NEVER_EXEC = 8, /* MFD_NOEXEC_SEAL, Linux 6.3; a host may insist on it */
    ADD_SEALS = 1033 /* F_ADD_SEALS */,
    SEALS = 0xf /* all but those that came later */
};

/* ---- what is in it ---- */

bool fl_job_takes_alone(enum forkless_step step) {
    switch (step) {
    case FORKLESS_STEP_OOM_SCORE:
    case FORKLESS_STEP_GROUPS:
    case FORKLESS_STEP_GID:
    case FORKLESS_STEP_UID:
    case FORKLESS_STEP_SECUREBITS:
    case FORKLESS_STEP_CAPABILITIES:
        return true;
    default:
        return false;
    }
}

/* Files are opened before, from the working directory. */
static bool has_relative_files(const forkless_command *c) {
    for (size_t i = 0; i < c->descriptors.count; i++)
        if (c->descriptors.sources[i].kind == FL_FILE && c->descriptors.sources[i].path[0] != '/')
            return true;
    return false;
}

bool fl_job_takes(const forkless_command *c, enum forkless_step step) {
    switch (step) {
    case FORKLESS_STEP_RLIMIT:
    case FORKLESS_STEP_NO_NEW_PRIVS:
        return true;
    case FORKLESS_STEP_CWD:
        return !has_relative_files(c);
    case FORKLESS_STEP_NAMESPACE:
        return c->user_namespace >= 0;
    default:
        return fl_job_takes_alone(step);
    }
}

static void add_role(struct fl_role *roles, size_t *n, enum forkless_step step, int from) {
    if (roles)
        roles[*n] = (struct fl_role){step, from};
    (*n)++;
}

size_t fl_job_roles(const forkless_command *c, struct fl_role *roles) {
    size_t n = 0;
    if (c->cgroup >= 0 || c->cgroup_path)
        add_role(roles, &n, FORKLESS_STEP_CGROUP, c->cgroup);
    if (c->user_namespace >= 0)
        add_role(roles, &n, FORKLESS_STEP_NAMESPACE, c->user_namespace);
    for (const struct fl_call *call = c->calls; call < c->calls + c->call_count; call++)
        if (call->number == SYS_fchdir ||
            (call->step == FORKLESS_STEP_NAMESPACE && c->user_namespace >= 0))
            add_role(roles, &n, call->step, call->index);
    if (c->program_fd >= 0)
        add_role(roles, &n, FORKLESS_STEP_EXEC, c->program_fd);
    return n;
}

size_t fl_job_fds(const forkless_command *c) {
    return FL_JOB_FDS + fl_job_roles(c, NULL);
}

/* ---- the bytes ---- */

struct building {
    const forkless_command *c;
    struct fl_role *roles;
    struct fl_job_call *calls;
    uint32_t call_count;
    char *bytes; /* struct fl_job comes first */
    size_t size, room;
    bool failed;
};

/* The offset of a copy. */
static uint32_t put(struct building *b, const void *data, size_t size) {
    size_t from = (b->size + 7) / 8 * 8;
    if (from + size > b->room) {
        size_t room = 2 * (from + size);
        char *grown = room < INT32_MAX ? realloc(b->bytes, room) : NULL;
        if (!grown) {
            b->failed = true;
            return 0;
        }
        b->bytes = grown;
        b->room = room;
    }
    memset(b->bytes + b->size, 0, from - b->size);
    memcpy(b->bytes + from, data, size);
    b->size = from + size;
    return (uint32_t)from;
}

static uint32_t put_string(struct building *b, const char *s) {
    return put(b, s, strlen(s) + 1);
}

static uint32_t fd_of(const struct building *b, enum forkless_step step, int from) {
    uint32_t i = 0;
    while (b->roles[i].step != step || b->roles[i].from != from)
        i++;
    return FL_JOB_FDS + i;
}

static struct fl_job_call *add(struct building *b, enum fl_job_kind kind, enum forkless_step step,
                               int index, long number) {
    struct fl_job_call *call = &b->calls[b->call_count++];
    *call = (struct fl_job_call){
        .kind = kind, .step = (int)step, .index = index, .number = (int)number};
    return call;
}

static struct fl_job_call *add_prctl(struct building *b, enum forkless_step step, long option,
                                     long first, long second) {
    struct fl_job_call *call = add(b, FL_JOB_CALL, step, -1, SYS_prctl);
    call->arguments[0] = option;
    call->arguments[1] = first;
    call->arguments[2] = second;
    return call;
}

static void add_write(struct building *b, enum forkless_step step, int index, long folder,
                      const char *path, const char *text) {
    struct fl_job_call *call = add(b, FL_JOB_WRITE, step, index, 0);
    call->arguments[0] = folder;
    call->arguments[1] = put_string(b, path);
    call->arguments[2] = put_string(b, text);
    call->arguments[3] = (long)strlen(text);
    call->offsets = 1u << 1 | 1u << 2;
}

/* One that the child would make, its pointers turned into offsets. */
static void add_call(struct building *b, const struct fl_call *from) {
    struct fl_job_call *to = add(b, FL_JOB_CALL, from->step, from->index, from->number);
    for (int i = 0; i < 5; i++)
        to->arguments[i] = from->arguments[i];
    if (from->kind == FL_DEATH_SIGNAL)
        to->kind = FL_JOB_DEATH_SIGNAL;
    int pointer = -1;
    switch (from->number) {
    case SYS_prlimit64:
        to->arguments[pointer = 2] =
            put(b, (const void *)from->arguments[2], sizeof(struct rlimit));
        break;
    case SYS_setgroups:
        to->arguments[pointer = 1] =
            put(b, (const void *)from->arguments[1], (size_t)from->arguments[0] * sizeof(gid_t));
        break;
    case SYS_chdir: /* which a relative path has brought the child to before */
        to->arguments[pointer = 0] = put_string(
            b, has_relative_files(b->c) && from->subject[0] != '/' ? "." : from->subject);
        break;
    case SYS_fchdir:
    case SYS_setns:
        to->arguments[0] = fd_of(b, from->step, from->index);
        to->fds = 1;
    }
    if (pointer >= 0)
        to->offsets = 1u << pointer;
}

static void add_step(struct building *b, enum forkless_step step) {
    for (size_t i = 0; i < b->c->call_count; i++)
        if (b->c->calls[i].step == step)
            add_call(b, &b->c->calls[i]);
}

static const struct fl_call *find(const struct building *b, enum forkless_step step) {
    return fl_command_call(b->c, step);
}

/* ---- the order ---- */

static void add_cgroup_and_score(struct building *b) {
    const forkless_command *c = b->c;
    if (c->cgroup >= 0 || c->cgroup_path) {
        add_write(b, FORKLESS_STEP_CGROUP, c->cgroup, fd_of(b, FORKLESS_STEP_CGROUP, c->cgroup),
                  "cgroup.procs", "0");
        b->calls[b->call_count - 1].fds = 1;
    }
    const struct fl_call *score = find(b, FORKLESS_STEP_OOM_SCORE);
    if (score)
        add_write(b, score->step, -1, AT_FDCWD, "/proc/self/oom_score_adj", score->subject);
}

/* The user namespace lends the right to enter the others. Before it: all that takes privileges of
 * the caller's own. */
static void add_namespaces(struct building *b) {
    int fd = b->c->user_namespace;
    if (fd < 0)
        return;
    struct fl_job_call *call = add(b, FL_JOB_CALL, FORKLESS_STEP_NAMESPACE, fd, SYS_setns);
    call->arguments[0] = fd_of(b, FORKLESS_STEP_NAMESPACE, fd);
    call->arguments[1] = CLONE_NEWUSER;
    call->fds = 1;
    add_step(b, FORKLESS_STEP_NAMESPACE);
}

static void add_capset(struct building *b, uint64_t set) {
    struct fl_capabilities c = {.version = FL_CAPABILITY_VERSION};
    for (int i = 0; i < 2; i++)
        c.data[i].effective = c.data[i].permitted = c.data[i].inheritable =
            (uint32_t)(set >> 32 * i);
    uint32_t at = put(b, &c, sizeof c);
    struct fl_job_call *call = add(b, FL_JOB_CALL, FORKLESS_STEP_CAPABILITIES, -1, SYS_capset);
    call->arguments[0] = at;
    call->arguments[1] = at + (uint32_t)offsetof(struct fl_capabilities, data);
    call->offsets = 3;
}

/*
 * A change of user takes capabilities away unless they are kept. Securebits take one that may be
 * lost by then and may forbid ambient ones: they are set in the midst of it.
 */
static void add_identity(struct building *b) {
    const struct fl_call *bits = find(b, FORKLESS_STEP_SECUREBITS),
                         *set = find(b, FORKLESS_STEP_CAPABILITIES);
    uint64_t wanted = set ? (uint64_t)set->arguments[0] : 0;
    if ((bits || set) && find(b, FORKLESS_STEP_UID))
        add_prctl(b, set ? set->step : bits->step, PR_SET_KEEPCAPS, 1, 0);
    add_step(b, FORKLESS_STEP_GROUPS);
    add_step(b, FORKLESS_STEP_GID);
    add_step(b, FORKLESS_STEP_UID);
    if (set) {
        add(b, FL_JOB_RAISE, set->step, -1, 0)->arguments[0] = (int64_t)wanted;
        add_prctl(b, set->step, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0);
        for (int i = 0; i < 64; i++)
            if (wanted >> i & 1)
                add_prctl(b, set->step, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i);
    }
    if (bits)
        add(b, FL_JOB_SECUREBITS, bits->step, -1, 0)->arguments[0] = bits->arguments[0];
    if (set)
        add_capset(b, wanted);
}

static void add_programs(struct building *b) {
    const struct fl_prepared *prepared =
        atomic_load_explicit(&b->c->prepared, memory_order_acquire);
    size_t n = 0;
    while (prepared->programs[n])
        n++;
    uint32_t *offsets = calloc(n, sizeof *offsets);
    b->failed |= !offsets;
    for (size_t i = 0; i < n && !b->failed; i++)
        offsets[i] = put_string(b, prepared->programs[i]);
    uint32_t at = b->failed ? 0 : put(b, offsets, n * sizeof *offsets);
    free(offsets);
    uint32_t calls = put(b, b->calls, b->call_count * sizeof *b->calls);
    const struct fl_job job = {
        .magic = FL_JOB_MAGIC,
        .version = FL_JOB_VERSION,
        .size = (uint32_t)b->size,
        .calls = calls,
        .call_count = b->call_count,
        .programs = at,
        .program_count = (uint32_t)n,
        .program_fd = b->c->program_fd >= 0 ? fd_of(b, FORKLESS_STEP_EXEC, b->c->program_fd) : 0,
        .fds = (uint32_t)fl_job_fds(b->c),
        .searches = prepared->searches,
    };
    if (!b->failed)
        memcpy(b->bytes, &job, sizeof job);
}

static void build(struct building *b) {
    const struct fl_job none = {0};
    put(b, &none, sizeof none);
    fl_job_roles(b->c, b->roles);
    add_cgroup_and_score(b);
    add_step(b, FORKLESS_STEP_RLIMIT);
    add_namespaces(b);
    add_identity(b);
    add_step(b, FORKLESS_STEP_CWD);
    add_step(b, FORKLESS_STEP_NO_NEW_PRIVS);
    add_step(b, FORKLESS_STEP_DEATH_SIGNAL);
    add_programs(b);
}

/* ---- the file ---- */

static long write_all(long fd, const char *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        long n =
            fl_syscall(SYS_pwrite64, fd, (long)(bytes + done), (long)(size - done), (long)done, 0);
        if (n <= 0)
            return n < 0 ? n : -EIO;
        done += (size_t)n;
    }
    return fl_syscall(SYS_fcntl, fd, ADD_SEALS, SEALS, 0, 0);
}

/* Without the signal that says that the caller's limit of file sizes has been met. */
static long write_unsignalled(long fd, const char *bytes, size_t size) {
    const uint64_t xfsz = UINT64_C(1) << (SIGXFSZ - 1);
    const struct timespec now = {0};
    uint64_t old, pending = 0;
    fl_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&xfsz, (long)&old, FL_MASK_SIZE, 0);
    fl_syscall(SYS_rt_sigpending, (long)&pending, FL_MASK_SIZE, 0, 0, 0);
    long rc = write_all(fd, bytes, size);
    if (rc == -EFBIG && !(pending & xfsz))
        fl_syscall(SYS_rt_sigtimedwait, (long)&xfsz, 0, (long)&now, FL_MASK_SIZE, 0);
    fl_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, FL_MASK_SIZE, 0);
    return rc;
}

static int write_file(const char *bytes, size_t size) {
    const unsigned flags = CLOEXEC | SEALABLE;
    long name = (long)"forkless-job";
    long fd = fl_syscall(SYS_memfd_create, name, flags | NEVER_EXEC, 0, 0, 0);
    if (fd == -EINVAL)
        fd = fl_syscall(SYS_memfd_create, name, flags, 0, 0, 0);
    fd = fl_above_stderr(fd);
    long rc = fd < 0 ? fd : write_unsignalled(fd, bytes, size);
    if (rc < 0)
        fl_close(fd);
    return (int)(rc < 0 ? rc : fd);
}

static int make(void *command) {
    const forkless_command *c = command;
    enum { MORE_CALLS = 64 + 8 }; /* ambient capabilities, and what comes around them */
    struct building b = {
        .c = c,
        .roles = calloc(fl_job_fds(c), sizeof *b.roles),
        .calls = calloc(c->call_count + MORE_CALLS, sizeof *b.calls),
    };
    b.failed = !b.roles || !b.calls;
    if (!b.failed)
        build(&b);
    int rc = b.failed ? -ENOMEM : write_file(b.bytes, b.size);
    free(b.roles);
    free(b.calls);
    free(b.bytes);
    return rc;
}

int fl_job_open(forkless_command *c) {
    return fl_own_get(&c->job, make, c);
}
