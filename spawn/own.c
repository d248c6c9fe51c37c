#include "own.h"

#include <fcntl.h>

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
