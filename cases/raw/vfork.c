/* vfork and exec: the child has the caller's memory and stack, the caller waits until it has
 * exec'd. */
#include <errno.h>
#include <unistd.h>

#include "raw.h"

static int body(struct born *born) {
    pid_t pid = vfork();
    if (pid == 0) {
        execve(raw_argv[0], raw_argv, environ);
        _exit(127);
    }
    born->pid = pid;
    return pid < 0 ? -errno : 0;
}

const struct strategy strategy_vfork = {
    .name = "vfork",
    .prepare = raw_prepare,
    .body = body,
    .finish = raw_finish,
};
