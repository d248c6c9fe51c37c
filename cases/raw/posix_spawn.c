/* posix_spawn as libc has it, without attributes or file actions. */
#include <spawn.h>

#include "raw.h"

static int body(struct born *born) {
    return -posix_spawn(&born->pid, raw_argv[0], NULL, NULL, raw_argv, environ);
}

const struct strategy strategy_posix_spawn = {
    .name = "posix_spawn",
    .prepare = raw_prepare,
    .body = body,
    .finish = raw_finish,
};
