#include "small.h"

#include <errno.h>
#include <forkless.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "small/connection.h"

static int describe(forkless_command *command, const char *argument, const cpu_set_t *cpus,
                    int connection) {
    int rc = forkless_command_fd(command, CONNECTION, connection);
    if (rc == 0 && argument)
        rc = forkless_command_arg(command, argument);
    if (rc == 0 && cpus)
        rc = forkless_command_affinity(command, cpus, sizeof *cpus);
    return rc;
}

int small_start(struct small *small, const char *folder, const char *name, const char *argument,
                const cpu_set_t *cpus) {
    char path[4096];
    forkless_command *command;
    forkless_child *child;
    int ends[2];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return -ENAMETOOLONG;
    int rc = forkless_command_new(&command, path);
    if (rc < 0)
        return rc;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        rc = -errno;
        forkless_command_free(command);
        return rc;
    }
    rc = describe(command, argument, cpus, ends[1]);
    if (rc == 0)
        rc = forkless_spawn(command, &child, NULL);
    forkless_command_free(command);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return rc;
    }
    *small = (struct small){forkless_pid(child), ends[0]};
    forkless_child_free(child);
    return 0;
}

void small_end(struct small *small) {
    close(small->connection);
    while (waitpid(small->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
