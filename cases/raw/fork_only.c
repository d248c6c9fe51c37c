/* fork without an exec: a worker, which does in its copy of the caller's memory what the target
 * would do. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"
#include "targets/target.h"

static bool stamps, waits;

static int prepare(const struct request *request) {
    const char *slash = strrchr(request->target, '/'), *name = slash ? slash + 1 : request->target;
    waits = strcmp(name, "waiter") == 0;
    stamps = waits || strcmp(name, "tiny") == 0;
    return raw_prepare(request);
}

static bool stamp(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    target_stamp stamp = (target_stamp)now.tv_sec * 1000000000u + (target_stamp)now.tv_nsec;
    return !stamps || write(STDOUT_FILENO, &stamp, sizeof stamp) == sizeof stamp;
}

static _Noreturn void work(void) {
    char told;
    bool well = stamp();
    if (waits)
        well &= read(STDIN_FILENO, &told, sizeof told) >= 0 && stamp();
    _exit(well ? TARGET_STATUS : 1);
}

static int body(struct born *born) {
    pid_t pid = fork();
    if (pid == 0)
        work();
    born->pid = pid;
    return pid < 0 ? -errno : 0;
}

const struct strategy strategy_fork_only = {
    .name = "fork_only",
    .copies = true,
    .is_worker = true,
    .prepare = prepare,
    .body = body,
    .finish = raw_finish,
};
