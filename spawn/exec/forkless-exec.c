/*
 * Runs in the place of a child of libforkless, with memory of its own, and makes of it what must
 * not be made of a process that shares its parent's memory; then it executes the target. No libc.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../arch/syscall.h"
#include "../kernel.h"
#include "forkless.h"
#include "job.h"

#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#endif

enum {
    SEALS = 0x000f, /* F_SEAL_SEAL, SHRINK, GROW, WRITE */
    AUX_END = 0,    /* AT_NULL */
    AUX_SECURE = 23 /* AT_SECURE */
};

struct process {
    char *const *argv, *const *envp;
    int base;
    long parent;
    const struct fl_job *job;
    struct fl_sigaction pipe_action; /* what SIGPIPE does in the target */
};

_Noreturn void fl_exec_main(long *stack);
FL_PROGRAM_ENTRY("fl_exec_main")

/* A compiler may want them where no source does. */
void *memset(void *to, int byte, size_t size) {
    for (volatile char *at = to; size > 0; size--)
        *at++ = (char)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    volatile char *at = to;
    for (const char *c = from; size > 0; size--)
        *at++ = *c++;
    return to;
}

static long call(long number, long a, long b, long c, long d) {
    return fl_syscall(number, a, b, c, d, 0);
}

_Noreturn static void leave(int status) {
    for (;;)
        call(SYS_exit_group, status, 0, 0, 0);
}

/* ---- what it was started with ---- */

/* The number at *text, which moves behind it; -1: there is none. */
static int take_number(const char **text) {
    int n = 0;
    if (**text < '1' || **text > '9')
        return -1;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        if (n > 1 << 24)
            return -1;
        n = 10 * n + (**text - '0');
    }
    return n;
}

/* -1: not of this version. */
static int base_in(const char *text) {
    for (const char *name = FL_JOB_NAME " "; *name; name++)
        if (*text++ != *name)
            return -1;
    if (take_number(&text) != FL_JOB_VERSION || *text++ != ' ')
        return -1;
    int base = take_number(&text);
    return *text ? -1 : base;
}

/* Started set-uid or set-gid, or by a caller that is. */
static bool is_secure(char *const *envp) {
    while (*envp)
        envp++;
    for (const unsigned long *aux = (const unsigned long *)(envp + 1); aux[0] != AUX_END; aux += 2)
        if (aux[0] == AUX_SECURE)
            return aux[1] != 0;
    return true;
}

static const struct fl_job *map_job(int fd) {
    long seals = call(SYS_fcntl, fd, F_GET_SEALS, 0, 0);
    long size = call(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0);
    if (seals < 0 || (seals & SEALS) != SEALS || size < (long)sizeof(struct fl_job))
        return NULL;
    /* Nothing writes to it, but qemu wants capset's header to be writable. */
    long job = fl_syscall6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (job < 0 && job > -4096)
        return NULL;
    const struct fl_job *j = (const struct fl_job *)job;
    bool ours = j->magic == FL_JOB_MAGIC && j->version == FL_JOB_VERSION && j->size == size;
    return ours ? j : NULL;
}

static const void *in_job(const struct process *p, uint32_t offset) {
    return (const char *)p->job + offset;
}

/* ---- reports ---- */

/* To a pipe that nobody may read any more. */
static long report(const struct process *p, long code, int step, int index, int number) {
    const struct fl_report r = {(int)code, step, index, number};
    return call(SYS_write, p->base + FL_REPORT_FD, (long)&r, sizeof r, 0);
}

_Noreturn static void fail(const struct process *p, long code, int step, int index, int number) {
    report(p, code, step, index, number);
    leave(FL_EXEC_FAILED);
}

static long ignore_sigpipe(struct fl_sigaction *old) {
    static const struct fl_sigaction ignore = {.handler = SIG_IGN};
    return call(SYS_rt_sigaction, SIGPIPE, (long)&ignore, (long)old, FL_MASK_SIZE);
}

/* Nothing of what the library needs is left in the target. */
static void prepare(struct process *p) {
    long rc = ignore_sigpipe(&p->pipe_action);
    for (uint32_t i = 0; rc >= 0 && i < p->job->fds; i++)
        rc = call(SYS_fcntl, p->base + (long)i, F_SETFD, FD_CLOEXEC, 0);
    if (rc < 0)
        fail(p, rc, FORKLESS_STEP_HELPER, -1, -1);
}

/* ---- the job ---- */

static long as_it_stands(long number, const long *a) {
    return fl_syscall(number, a[0], a[1], a[2], a[3], a[4]);
}

static long write_file(const long *a) {
    long fd = call(SYS_openat, a[0], a[1], O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    long rc = call(SYS_write, fd, a[2], a[3], 0);
    call(SYS_close, fd, 0, 0, 0);
    return rc < 0 || rc == a[3] ? rc : -EIO;
}

static long get_capabilities(struct fl_capabilities *c) {
    *c = (struct fl_capabilities){.version = FL_CAPABILITY_VERSION};
    return call(SYS_capget, (long)&c->version, (long)c->data, 0, 0);
}

static long set_capabilities(struct fl_capabilities *c) {
    return call(SYS_capset, (long)&c->version, (long)c->data, 0, 0);
}

static long raise_capabilities(uint64_t inheritable) {
    struct fl_capabilities c;
    long rc = get_capabilities(&c);
    for (int i = 0; i < 2; i++) {
        c.data[i].effective = c.data[i].permitted;
        c.data[i].inheritable = (uint32_t)(inheritable >> 32 * i);
    }
    return rc < 0 ? rc : set_capabilities(&c);
}

/* Those that a change of user has taken are taken again: the working directory comes later. */
static long set_securebits(long bits) {
    struct fl_capabilities old, all;
    long rc = get_capabilities(&old);
    all = old;
    for (int i = 0; i < 2; i++)
        all.data[i].effective = all.data[i].permitted;
    if (rc >= 0)
        rc = set_capabilities(&all);
    if (rc >= 0)
        rc = call(SYS_prctl, PR_SET_SECUREBITS, bits, 0, 0);
    return rc < 0 ? rc : set_capabilities(&old);
}

static void perform(const struct process *p, const struct fl_job_call *c, int number) {
    long a[5], rc = -ENOSYS;
    for (int i = 0; i < 5; i++) {
        a[i] = (long)c->arguments[i];
        if (c->offsets >> i & 1)
            a[i] = (long)in_job(p, (uint32_t)a[i]);
        if (c->fds >> i & 1)
            a[i] += p->base;
    }
    switch ((enum fl_job_kind)c->kind) {
    case FL_JOB_CALL:
        rc = as_it_stands(c->number, a);
        break;
    case FL_JOB_WRITE:
        rc = write_file(a);
        break;
    case FL_JOB_RAISE:
        rc = raise_capabilities((uint64_t)a[0]);
        break;
    case FL_JOB_SECUREBITS:
        rc = set_securebits(a[0]);
        break;
    case FL_JOB_DEATH_SIGNAL: /* until now the child's own told of its end */
        rc = as_it_stands(c->number, a);
        if (rc >= 0 && call(SYS_getppid, 0, 0, 0, 0) != p->parent)
            rc = -ESRCH;
        break;
    }
    if (rc < 0)
        fail(p, rc, c->step, c->index, number);
}

/* As the child does where it needs no such program. */
static long execute(const struct process *p, long argv, long envp) {
    const struct fl_job *job = p->job;
    const uint32_t *programs = in_job(p, job->programs);
    long code = -ENOENT;
    if (job->program_fd)
        return fl_syscall(SYS_execveat, p->base + (int)job->program_fd, (long)"", argv, envp,
                          0x1000 /* AT_EMPTY_PATH */);
    for (uint32_t i = 0; i < job->program_count; i++) {
        long rc = call(SYS_execve, (long)in_job(p, programs[i]), argv, envp, 0);
        if (rc == -EACCES || !job->searches)
            code = rc;
        if (rc != -EACCES && rc != -ENOENT && rc != -ENOTDIR)
            return rc;
    }
    return code;
}

void fl_exec_main(long *stack) {
    struct process p = {.argv = (char *const *)(stack + 1)};
    long argc = stack[0];
    p.envp = p.argv + argc + 1;
    p.base = argc > 0 ? base_in(p.argv[0]) : -1;
    if (argc < 2 || p.base < 3 || is_secure(p.envp) ||
        call(SYS_fcntl, p.base + FL_REPORT_FD, F_GETFD, 0, 0) < 0)
        leave(FL_EXEC_REFUSED);
    p.job = map_job(p.base + FL_JOB_FD);
    if (!p.job)
        leave(FL_EXEC_REFUSED);
    prepare(&p);
    const struct fl_job_call *calls = in_job(&p, p.job->calls);
    for (uint32_t i = 0; i < p.job->call_count; i++)
        if (calls[i].kind == FL_JOB_DEATH_SIGNAL)
            p.parent = call(SYS_getppid, 0, 0, 0, 0);
    for (uint32_t i = 0; i < p.job->call_count; i++)
        perform(&p, &calls[i], (int)i);
    /* A target that the caller cannot know of must not run. */
    long rc = report(&p, 0, FORKLESS_STEP_EXEC, -1, -1);
    if (rc != sizeof(struct fl_report) && rc != -EPIPE)
        leave(FL_EXEC_FAILED);
    rc = call(SYS_rt_sigaction, SIGPIPE, (long)&p.pipe_action, 0, FL_MASK_SIZE);
    if (rc < 0)
        fail(&p, rc, FORKLESS_STEP_HELPER, -1, -1);
    rc = execute(&p, (long)(p.argv + 1), (long)p.envp);
    ignore_sigpipe(&p.pipe_action);
    fail(&p, rc, FORKLESS_STEP_EXEC, -1, -1);
}
