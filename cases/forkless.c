/* Our own two calls, through the library that ships. */
#include <forkless.h>
#include <errno.h>
#include <unistd.h>

#include "attributes.h"
#include "case.h"

static forkless_command *command;
static const struct attribute *asked;
static int held; /* for the attribute; 0: nothing */

static void cleanup(void) {
    forkless_command_free(command);
    command = NULL;
    if (held > 0)
        close(held);
    held = 0;
}

static int prepare(const char *target, unsigned children, const struct attribute *attribute) {
    (void)children;
    asked = attribute;
    int rc = forkless_command_new(&command, target);
    if (rc == 0 && attribute->set)
        rc = held = attribute->set(command);
    if (rc < 0)
        cleanup();
    return rc < 0 ? rc : 0;
}

static int spawn(struct born *born) {
    forkless_child *child;
    int rc = forkless_spawn(command, &child, NULL);
    born->data = child;
    return rc;
}

static int start(struct born *born) {
    forkless_child *child;
    int rc = forkless_start(command, &child, NULL);
    born->data = child;
    return rc;
}

static int finish(struct born *born, struct ended *ended, enum forkless_mechanism promised) {
    forkless_child *child = born->data;
    forkless_status status;
    int rc = forkless_wait(child, FORKLESS_NEVER, &status, NULL);
    if (forkless_mechanism(child) != promised)
        ended->unsupported = "clone3 is refused here, and the library took another mechanism";
    forkless_child_free(child);
    ended->usage = status.usage;
    ended->status = status.how == FORKLESS_EXITED ? status.code << 8 : status.code;
    if (rc == 0 && status.how == FORKLESS_UNKNOWN)
        rc = -ECHILD;
    return rc;
}

static int finish_spawn(struct born *born, struct ended *ended) {
    return finish(born, ended, FORKLESS_CLONE3_VFORK);
}

static int finish_start(struct born *born, struct ended *ended) {
    return finish(born, ended, asked->holds ? FORKLESS_CLONE3_VFORK : FORKLESS_CLONE3_VM);
}

const struct strategy strategy_forkless_spawn = {
    .name = "forkless_spawn",
    .has_attributes = true,
    .prepare = prepare,
    .body = spawn,
    .finish = finish_spawn,
    .cleanup = cleanup,
};

const struct strategy strategy_forkless_start = {
    .name = "forkless_start",
    .has_attributes = true,
    .prepare = prepare,
    .body = start,
    .finish = finish_start,
    .cleanup = cleanup,
};
