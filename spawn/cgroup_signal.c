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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/syscall.h"
#include "cgroup.h"
#include "own.h"

enum { ROUNDS = 100 };

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

/* What came of it: how many got the signal, and the error of one that did not. */
struct outcome {
    size_t reached;
    int code;
};

static int signal_one(int folder, pid_t pid, int signal, struct members *again) {
    long fd = fl_syscall(SYS_pidfd_open, pid, 0, 0, 0, 0);
    if (fd < 0)
        return (int)fd;
    int rc = read_members(folder, again);
    if (rc == 0)
        rc = has(again, pid) ? (int)fl_syscall(SYS_pidfd_send_signal, fd, signal, 0, 0, 0) : -ESRCH;
    fl_close(fd);
    return rc;
}

static int signal_members(int folder, int signal, struct outcome *outcome) {
    struct members now = {0}, again = {0};
    int rc = read_members(folder, &now);
    if (has(&now, (pid_t)fl_syscall(SYS_getpid, 0, 0, 0, 0, 0)))
        rc = -EINVAL;
    for (size_t i = 0; rc == 0 && i < now.count; i++) {
        /* 0: of another pid namespace, there to be seen and not to be signalled. */
        int code = now.pids[i] == 0 ? (signal == 0 ? 0 : -EPERM)
                                    : signal_one(folder, now.pids[i], signal, &again);
        if (code == 0)
            outcome->reached++;
        else if (code != -ESRCH)
            outcome->code = code;
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

static int signal_all(int folder, int signal) {
    struct outcome outcome = {0};
    int rc = signal_tree(folder, signal, &outcome);
    if (rc < 0)
        return rc;
    if (outcome.code < 0)
        return outcome.code;
    return outcome.reached > 0 ? 0 : -ESRCH;
}

/* Linux 5.14, version 2. -ENOENT: it is older, or version 1. */
static int kill_at_once(int folder) {
    long fd = fl_syscall(SYS_openat, folder, (long)"cgroup.kill", O_WRONLY | O_CLOEXEC, 0, 0);
    if (fd < 0)
        return (int)fd;
    long rc = fl_syscall(SYS_write, fd, (long)"1", 1, 0, 0);
    fl_close(fd);
    return rc < 0 ? (int)rc : 0;
}

/* Who forks while his brothers are being killed has children that are in the next list. */
static int kill_in_turn(int folder) {
    int rc = signal_all(folder, SIGKILL);
    for (int round = 1, next = rc; round < ROUNDS && next == 0; round++)
        next = signal_all(folder, SIGKILL);
    return rc;
}

int fl_cgroup_signal(int folder, int signal) {
    int rc = signal_all(folder, 0);
    if (rc < 0 || signal == 0)
        return rc;
    rc = signal == SIGKILL ? kill_at_once(folder) : signal_all(folder, signal);
    return signal == SIGKILL && rc == -ENOENT ? kill_in_turn(folder) : rc;
}
