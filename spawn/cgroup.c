/*
 * A child that is born in a frozen cgroup holds its caller until that is thawed: such a one is
 * refused. One that meets the limit of its cgroup's memory before its exec takes whoever shares the
 * memory along: it joins when it has memory of its own. Both can still come about a moment later.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "arch/syscall.h"
#include "error.h"
#include "own.h"

enum { DEPTH_MAX = 64, CGROUP1 = 0x27e0eb /* CGROUP_SUPER_MAGIC */ };

/* What is not there says nothing; what cannot be looked at may be anything. */
static bool is_lack(long rc) {
    return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

/* Into a string: its length, 0 where there is no such file, or what is lacking. */
static long read_file(int folder, const char *name, char *buffer, size_t size) {
    long fd = fl_syscall(SYS_openat, folder, (long)name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0);
    if (fd < 0)
        return is_lack(fd) ? fd : 0;
    long n = fl_syscall(SYS_read, fd, (long)buffer, (long)size - 1, 0, 0);
    fl_close(fd);
    buffer[n > 0 ? n : 0] = '\0';
    return n > 0 ? n : 0;
}

/* These tell 1, 0, or what is lacking. */

static long is_frozen(int folder) {
    char text[256];
    long rc = read_file(folder, "cgroup.events", text, sizeof text);
    return rc > 0 ? strstr(text, "frozen 1") != NULL : rc;
}

/* Of this one alone; the root has no such file. */
static long is_limited(int folder) {
    char text[32];
    long rc = read_file(folder, "memory.max", text, sizeof text);
    return rc > 0 ? strncmp(text, "max", 3) != 0 : rc;
}

static bool is_cgroup(int folder) {
    return fl_syscall(SYS_faccessat, folder, (long)"cgroup.procs", 0, 0, 0) == 0;
}

static long is_limited_above(int folder) {
    char path[3 * DEPTH_MAX + 1] = "..";
    for (int depth = 1; depth < DEPTH_MAX; depth++, strcat(path, "/..")) {
        long above =
            fl_syscall(SYS_openat, folder, (long)path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
        if (above < 0)
            return is_lack(above) ? above : 0;
        bool inside = is_cgroup((int)above);
        long limited = inside ? is_limited((int)above) : 0;
        fl_close(above);
        if (limited != 0 || !inside)
            return limited;
    }
    return 0;
}

/* Of version 1 the freezer alone can be frozen. */
static long is_frozen_v1(int folder) {
    char text[32];
    long rc = read_file(folder, "freezer.state", text, sizeof text);
    return rc > 0 ? strncmp(text, "FROZEN", 6) == 0 || strncmp(text, "FREEZING", 8) == 0 : rc;
}

static int look(int fd, const char *path, forkless_error *error) {
    struct statfs system;
    bool v1 = fstatfs(fd, &system) == 0 && (unsigned long)system.f_type == CGROUP1;
    long rc = v1 ? is_frozen_v1(fd) : is_frozen(fd);
    if (rc > 0)
        rc = -EBUSY;
    if (rc == 0 && path && !is_cgroup(fd))
        rc = -EBADF;
    if (rc == 0 && (path || v1))
        return 1;
    if (rc == 0)
        rc = is_limited(fd);
    if (rc == 0)
        rc = is_limited_above(fd);
    if (rc < 0) {
        fl_error(error, (int)rc, FORKLESS_STEP_CGROUP, path ? -1 : fd, path);
        if (error && (rc == -EBUSY || rc == -EBADF))
            snprintf(error->reason, sizeof error->reason, "it is %s",
                     rc == -EBUSY ? "frozen" : "no cgroup");
    }
    return (int)rc;
}

int fl_cgroup_look(forkless_child *slot, forkless_error *error) {
    const forkless_command *c = slot->command;
    if (!c->cgroup_path)
        return look(c->cgroup, NULL, error);
    long fd = fl_above_stderr(fl_syscall(SYS_openat, AT_FDCWD, (long)c->cgroup_path,
                                         O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0));
    if (fd < 0)
        return fl_error(error, (int)fd, FORKLESS_STEP_CGROUP, -1, c->cgroup_path);
    slot->helped.cgroup = (int)fd;
    return look((int)fd, c->cgroup_path, error);
}

int fl_cgroup_keep(forkless_child *slot, forkless_error *error) {
    const forkless_command *c = slot->command;
    int from = c->cgroup_path ? slot->helped.cgroup : c->cgroup;
    long fd = fl_syscall(SYS_fcntl, from, F_DUPFD_CLOEXEC, 3, 0, 0);
    if (fd < 0)
        return fl_error(error, (int)fd, FORKLESS_STEP_CGROUP, c->cgroup_path ? -1 : from,
                        c->cgroup_path);
    slot->cgroup_kept = (int)fd;
    return 0;
}
