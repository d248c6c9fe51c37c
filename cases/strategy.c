/* The strategies by name. */
#include <string.h>

#include "case.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct strategy *const all[] = {
    &strategy_null,
    &strategy_floor_vm,
    &strategy_floor_vfork,
    &strategy_forkless_start,
    &strategy_forkless_spawn,
    &strategy_clone3,
    &strategy_vfork,
    &strategy_posix_spawn,
    &strategy_fork,
    &strategy_fork_only,
    &strategy_forkless_run,
    &strategy_posix_spawn_read,
    &strategy_server,
    &strategy_limit,
    &strategy_limit_pinned,
    &strategy_forkless_batch,
    &strategy_forkless_batch_thread,
};

const char *const strategy_names[] = {
    "null",
    "floor_vm",
    "floor_vfork",
    "forkless_start",
    "forkless_spawn",
    "clone3",
    "vfork",
    "posix_spawn",
    "fork",
    "fork_only",
    "forkless_run",
    "posix_spawn_read",
    "server",
    "limit",
    "limit_pinned",
    "forkless_batch",
    "forkless_batch_thread",
};
const size_t strategy_count = COUNT(strategy_names);
_Static_assert(COUNT(all) == COUNT(strategy_names), "a name for each strategy");

const struct strategy *strategy_find(const char *name) {
    for (size_t i = 0; i < COUNT(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
