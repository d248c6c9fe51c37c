/*
 * To be in a cgroup is told by numbers, and a number may have been given to another process by the
 * time that it is signalled. So a pidfd is taken of each, the list is read once more, and only who
 * is in that one too gets the signal: the pidfd is his, or of somebody who is gone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/syscall.h"
#include "cgroup.h"
#include "clock.h"
#include "kill.h"
#include "own.h"

enum { BATCH = 64, FREEZE_NS = 100000000 };
static const int64_t CHASE_NS = INT64_C(2000000000);

struct members {
    pid_t *pids;
    size_t count, room;
};

static int add(struct members *m, pid_t pid) {
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 64;
        pid_t *pids = realloc(m->pids, room * sizeof *pids);
        if (!pids)
            return -ENOMEM;
        m->pids = pids;
        m->room = room;
    }
    m->pids[m->count++] = pid;
    return 0;
}

/* -errno; what is gone or has no list of processes (threaded) has nobody. */
static int read_members(int folder, struct members *m) {
    m->count = 0;
    int fd = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
    if (!list) {
        int code = errno;
        fl_close(fd);
        return code == ENOENT || code == ENODEV ? 0 : -code;
    }
    int pid, rc = 0;
    while (rc == 0 && fscanf(list, "%d", &pid) == 1)
        rc = add(m, pid);
    if (rc == 0 && ferror(list) && errno != ENODEV && errno != EOPNOTSUPP)
        rc = -errno;
    fclose(list);
    return rc;
}

static bool has(const struct members *m, pid_t pid) {
    for (size_t i = 0; i < m->count; i++)
        if (m->pids[i] == pid)
            return true;
    return false;
}

/* What came of it: how many got the signal, how many of them for the first time, whether one that
 * was sought did, and the error of one that did not. */
struct outcome {
    size_t reached, fresh;
    pid_t sought; /* 0: nobody */
    bool found;
    int code;
    struct members *known; /* or NULL */
};

static int note(struct outcome *outcome, pid_t pid, int code) {
    if (code < 0 && code != -ESRCH)
        outcome->code = code;
    if (code < 0)
        return 0;
    outcome->reached++;
    outcome->found |= pid == outcome->sought;
    if (!outcome->known || has(outcome->known, pid))
        return 0;
    outcome->fresh++;
    return add(outcome->known, pid);
}

/* SIGKILL may come twice: a number may be that of a newer one by now. */
static bool has_it(const struct outcome *outcome, pid_t pid, int signal) {
    return outcome->known && signal != SIGKILL && has(outcome->known, pid);
}

/* Where there are no pidfds, by the number that was read a moment ago. */
static long send(long fd, pid_t pid, int signal) {
    long rc = fd < 0 ? fd : fl_syscall(SYS_pidfd_send_signal, fd, signal, 0, 0, 0);
    return fl_kill_is_refusal(rc) ? fl_syscall(SYS_kill, pid, signal, 0, 0, 0) : rc;
}

static int signal_batch(int folder, const pid_t *pids, size_t count, int signal,
                        struct members *again, struct outcome *outcome) {
    long fds[BATCH];
    for (size_t i = 0; i < count; i++)
        fds[i] = fl_syscall(SYS_pidfd_open, pids[i], 0, 0, 0, 0);
    int rc = read_members(folder, again);
    for (size_t i = 0; i < count; i++) {
        long code = -ESRCH;
        if (pids[i] == 0) /* of another pid namespace: there to be seen, not to be signalled */
            code = signal == 0 ? 0 : -EPERM;
        else if (rc == 0 && has(again, pids[i]) && !has_it(outcome, pids[i], signal))
            code = send(fds[i], pids[i], signal);
        if (rc == 0)
            rc = note(outcome, pids[i], (int)code);
        fl_close(fds[i]);
    }
    return rc;
}

static int signal_members(int folder, int signal, struct outcome *outcome) {
    struct members now = {0}, again = {0};
    int rc = read_members(folder, &now);
    if (has(&now, (pid_t)fl_syscall(SYS_getpid, 0, 0, 0, 0, 0)))
        rc = -EINVAL;
    for (size_t done = 0; rc == 0 && done < now.count; done += BATCH) {
        size_t left = now.count - done;
        rc = signal_batch(folder, now.pids + done, left < BATCH ? left : BATCH, signal, &again,
                          outcome);
    }
    free(now.pids);
    free(again.pids);
    return rc;
}

static int signal_tree(int folder, int signal, struct outcome *outcome) {
    int rc = signal_members(folder, signal, outcome);
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *below = fd < 0 ? NULL : fdopendir(fd);
    if (!below) {
        int code = errno;
        fl_close(fd);
        return rc < 0 || code == ENOENT || code == ENODEV ? rc : -code;
    }
    for (struct dirent *entry; rc == 0 && (entry = readdir(below));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        int inner = openat(folder, entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (inner >= 0)
            rc = signal_tree(inner, signal, outcome);
        else if (errno != ENOENT)
            rc = -errno;
        fl_close(inner);
    }
    closedir(below);
    return rc;
}

static int told(int rc, const struct outcome *outcome) {
    if (rc < 0)
        return rc;
    if (outcome->code < 0)
        return outcome->code;
    return outcome->reached > 0 ? 0 : -ESRCH;
}

static bool set_frozen(long fd, bool frozen) {
    return fl_syscall(SYS_pwrite64, fd, (long)(frozen ? "1" : "0"), 1, 0, 0) == 1;
}

/* Version 2, Linux 5.2: what it is thawed by, also when no descriptor is free any more. -1: it was
 * frozen already, or cannot be. */
static long freeze(int folder) {
    char was = '1';
    long fd = fl_syscall(SYS_openat, folder, (long)"cgroup.freeze", O_RDWR | O_CLOEXEC, 0, 0);
    if (fd >= 0 && fl_syscall(SYS_read, fd, (long)&was, 1, 0, 0) == 1 && was == '0' &&
        set_frozen(fd, true))
        return fd;
    fl_close(fd);
    return -1;
}

/* Those that are to end whoever gets them. SIGCONT and the like are not worth a freeze, which
 * breaks off system calls and refuses new children. */
static bool ends(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
}

/* Whoever is in the middle of a fork is frozen when that is done. One of them may be where the
 * kernel cannot stop it: not for ever. */
static void await_frozen(int folder, int64_t deadline) {
    char text[256];
    int64_t left;
    long fd = fl_syscall(SYS_openat, folder, (long)"cgroup.events", O_RDONLY | O_CLOEXEC, 0, 0);
    while (fd >= 0 && (left = fl_left(deadline)) > 0) {
        long n = fl_syscall(SYS_pread64, fd, (long)text, sizeof text - 1, 0, 0);
        text[n > 0 ? n : 0] = '\0';
        if (n <= 0 || strstr(text, "frozen 1"))
            break;
        struct pollfd changed = {.fd = (int)fd, .events = POLLPRI};
        struct timespec timeout = fl_timespec(left);
        long rc = fl_syscall(SYS_ppoll, (long)&changed, 1, (long)&timeout, 0, 0);
        if (rc < 0 && rc != -EINTR)
            break;
    }
    fl_close(fd);
}

/*
 * While they are frozen they cannot outrun us with children; nor can who has a SIGKILL coming,
 * whose fork fails: it is over when no new one is found. Not by cgroup.kill: on Linux 6.18 whoever
 * is born in a cgroup that was once killed so is killed at birth, be it hours later.
 */
static int signal_each(int folder, int signal, struct outcome *outcome) {
    struct members known = {0};
    long frozen = ends(signal) ? freeze(folder) : -1;
    int64_t begun = fl_now();
    int rc;
    if (frozen >= 0 && signal != SIGKILL)
        await_frozen(folder, begun + FREEZE_NS);
    outcome->known = &known;
    do {
        outcome->fresh = 0;
        rc = signal_tree(folder, signal, outcome);
    } while (rc == 0 && outcome->fresh > 0 &&
             (signal == SIGKILL || (frozen >= 0 && fl_left(begun + CHASE_NS) > 0)));
    if (frozen >= 0)
        set_frozen(frozen, false);
    fl_close(frozen);
    free(known.pids);
    return told(rc, outcome);
}

int fl_cgroup_signal(int folder, int signal, pid_t sought, bool *found) {
    /* Who is only asked for has not been reached. */
    struct outcome outcome = {.sought = signal == 0 ? sought : 0};
    int rc = told(signal_tree(folder, 0, &outcome), &outcome);
    if (rc == 0 && signal != 0) {
        outcome = (struct outcome){.sought = sought};
        rc = signal_each(folder, signal, &outcome);
    }
    if (found)
        *found = outcome.found;
    return rc;
}
