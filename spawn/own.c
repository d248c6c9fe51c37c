#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "arch/syscall.h"

void fl_close(long fd) {
    if (fd >= 0)
        fl_syscall(SYS_close, fd, 0, 0, 0, 0);
}

long fl_above_stderr(long fd) {
    if (fd < 0 || fd > 2)
        return fd;
    long above = fl_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0);
    fl_close(fd);
    return above;
}

int fl_own_pipe(int ends[2], int flags) {
    int low[2];
    long rc = fl_syscall(SYS_pipe2, (long)low, O_CLOEXEC | flags, 0, 0, 0);
    if (rc < 0)
        return (int)rc;
    long first = fl_above_stderr(low[0]), second = fl_above_stderr(low[1]);
    if (first < 0 || second < 0) {
        fl_close(first);
        fl_close(second);
        return (int)(first < 0 ? first : second);
    }
    ends[0] = (int)first;
    ends[1] = (int)second;
    return 0;
}

static bool identify(struct fl_own *own) {
    struct stat s;
    if (fstat(own->fd, &s) < 0)
        return false;
    own->device = s.st_dev;
    own->inode = s.st_ino;
    return true;
}

static bool is_open(const struct fl_own *own) {
    struct fl_own now = *own;
    return identify(&now) && now.device == own->device && now.inode == own->inode;
}

int fl_own_get(_Atomic(struct fl_own *) *place, int (*open)(void *), void *argument) {
    struct fl_own *top = atomic_load_explicit(place, memory_order_acquire);
    if (top && is_open(top))
        return top->fd;
    int fd = open(argument);
    if (fd < 0)
        return fd;
    struct fl_own *mine = malloc(sizeof *mine);
    if (mine)
        *mine = (struct fl_own){.fd = fd, .older = top};
    if (mine && identify(mine) && atomic_compare_exchange_strong(place, &top, mine))
        return fd;
    fl_close(fd);
    free(mine);
    return top && is_open(top) ? top->fd : -ENOMEM; /* another thread was first */
}

int fl_own_number(_Atomic(struct fl_own *) *place) {
    const struct fl_own *top = atomic_load_explicit(place, memory_order_acquire);
    return top ? top->fd : -1;
}

void fl_own_drop(_Atomic(struct fl_own *) *place) {
    for (struct fl_own *own = atomic_exchange(place, NULL), *older; own; own = older) {
        older = own->older;
        if (is_open(own))
            fl_close(own->fd);
        free(own);
    }
}
