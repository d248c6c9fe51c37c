#include "raw.h"

#include <errno.h>
#include <sys/wait.h>

char *raw_argv[2];

int raw_prepare(const struct request *request) {
    raw_argv[0] = (char *)request->target;
    return 0;
}

int raw_finish(struct born *born, struct ended *ended) {
    /* __WALL also finds a child without an exit signal, such as a floor's. */
    while (wait4(born->pid, &ended->status, __WALL, &ended->usage) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}
