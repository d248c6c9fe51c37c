/* fork and exec: the child gets a copy of the caller's page tables. */
#include <errno.h>
#include <unistd.h>

#include "raw.h"

static int body(struct born *born) {
    pid_t pid = fork();
    if (pid == 0) {
        execve(raw_argv[0], raw_argv, environ);
        _exit(127);
    }
    born->pid = pid;
    return pid < 0 ? -errno : 0;
}

const struct strategy strategy_fork = {
    .name = "fork",
    .copies = true,
    .prepare = raw_prepare,
    .body = body,
    .finish = raw_finish,
};
