/*
 * A child that is born in a frozen cgroup holds its caller until that is thawed. One that meets the
 * limit of its cgroup's memory before its exec takes whoever shares the memory along. Both can
 * still come about a moment later; what can be seen is refused.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "arch/syscall.h"
#include "error.h"

enum { DEPTH_MAX = 64 };

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
    fl_syscall(SYS_close, fd, 0, 0, 0, 0);
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
        fl_syscall(SYS_close, above, 0, 0, 0, 0);
        if (limited != 0 || !inside)
            return limited;
    }
    return 0;
}

int fl_cgroup_check(int fd, forkless_error *error) {
    long rc = is_frozen(fd);
    if (rc != 0)
        return fl_error(error, rc < 0 ? (int)rc : -EBUSY, FORKLESS_STEP_CGROUP, fd, NULL);
    rc = is_limited(fd);
    if (rc == 0)
        rc = is_limited_above(fd);
    if (rc < 0)
        return fl_error(error, (int)rc, FORKLESS_STEP_CGROUP, fd, NULL);
    if (rc > 0)
        return fl_error(error, -ENOTSUP, FORKLESS_STEP_HELPER, -1, "a cgroup with limited memory");
    return 0;
}
