/* Preloaded into forkless-bench: a block that goes wrong with its ballast, as FAULT_KIND says. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int madvise(void *start, size_t size, int advice);

static const char *kind;
static void *ballast;
static size_t ballast_size;

int madvise(void *start, size_t size, int advice) {
    enum { POPULATE_WRITE = 23, DONTFORK = 10, DOFORK = 11, HUGEPAGE = 14 };
    kind = getenv("FAULT_KIND");
    if (kind && ((advice == DONTFORK && strcmp(kind, "no-dontfork") == 0) ||
                 (advice == DOFORK && strcmp(kind, "no-dofork") == 0) ||
                 (advice == HUGEPAGE && strcmp(kind, "no-huge") == 0)))
        return 0; /* lies too */
    if (advice != POPULATE_WRITE || !kind)
        return (int)syscall(SYS_madvise, start, size, advice);
    ballast = start;
    ballast_size = size;
    if (strcmp(kind, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(kind, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(kind, "no-memory") == 0) {
        errno = ENOMEM;
        return -1;
    }
    if (strcmp(kind, "lie") != 0)
        return (int)syscall(SYS_madvise, start, size, advice);
    return 0; /* a lie: nothing is resident */
}

/* To one CPU, and not back. */
int sched_setaffinity(pid_t pid, size_t size, const void *cpus);

int sched_setaffinity(pid_t pid, size_t size, const void *cpus) {
    static bool pinned;
    if (pinned && kind && strcmp(kind, "no-unpin") == 0) {
        errno = EIO;
        return -1;
    }
    pinned = true;
    return (int)syscall(SYS_sched_setaffinity, pid, size, cpus);
}

int mprotect(void *start, size_t size, int protection);

int mprotect(void *start, size_t size, int protection) {
    if (ballast && kind && strcmp(kind, "no-mprotect") == 0)
        return 0;
    return (int)syscall(SYS_mprotect, start, size, protection);
}

/* The first thing that a block does after each chunk: its ballast is gone by then. */
int waitid(int type, unsigned id, void *info, int options);

int waitid(int type, unsigned id, void *info, int options) {
    enum { DONTNEED = 4 };
    if (ballast && kind && strcmp(kind, "shrink") == 0)
        syscall(SYS_madvise, ballast, ballast_size / 2, DONTNEED);
    return (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

/* Who waits so opened a child's descriptor and forgot it, or reaped the child and says otherwise.
 */
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    if (kind && strcmp(kind, "leak") == 0)
        (void)!dup(STDERR_FILENO);
    pid_t found = (pid_t)syscall(SYS_wait4, pid, status, options, usage);
    if (!kind || strcmp(kind, "no-wait") != 0)
        return found;
    errno = EIO;
    return -1;
}
