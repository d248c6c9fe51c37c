/* Our own three calls, through the library that ships. */
#include <forkless.h>
#include <errno.h>
#include <stdlib.h>
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

static int prepare(const struct request *request) {
    asked = request->attribute;
    int rc = forkless_command_new(&command, request->target);
    if (rc == 0 && asked->set)
        rc = held = asked->set(command);
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

static pid_t find_pid(const struct born *born) {
    return forkless_pid(born->data);
}

/* As wait4 would have told it. */
static int tell(const forkless_status *status, struct ended *ended) {
    ended->usage = status->usage;
    ended->status = status->how == FORKLESS_EXITED ? status->code << 8 : status->code;
    return status->how == FORKLESS_UNKNOWN ? -ECHILD : 0;
}

static int finish(struct born *born, struct ended *ended, enum forkless_mechanism promised) {
    forkless_child *child = born->data;
    forkless_status status;
    int rc = forkless_wait(child, FORKLESS_NEVER, &status, NULL);
    if (forkless_mechanism(child) != promised)
        ended->unsupported = "clone3 is refused here, and the library took another mechanism";
    forkless_child_free(child);
    int told = tell(&status, ended);
    return rc < 0 ? rc : told;
}

static int finish_spawn(struct born *born, struct ended *ended) {
    return finish(born, ended, FORKLESS_CLONE3_VFORK);
}

static int finish_start(struct born *born, struct ended *ended) {
    return finish(born, ended, asked->holds ? FORKLESS_CLONE3_VFORK : FORKLESS_CLONE3_VM);
}

static void release(struct born *born) {
    forkless_result_free(born->data);
    free(born->data);
}

static int run(struct born *born) {
    static const forkless_run_options options = {.capture = FORKLESS_CAPTURE_OUTPUT};
    forkless_result *result = malloc(sizeof *result);
    if (!result)
        return -ENOMEM;
    born->data = result;
    int rc = forkless_run(command, &options, result, NULL);
    if (rc < 0) {
        release(born);
        return rc;
    }
    born->output = result->output;
    born->output_size = result->output_size;
    return 0;
}

static int finish_run(struct born *born, struct ended *ended) {
    const forkless_result *result = born->data;
    return tell(&result->status, ended);
}

const struct strategy strategy_forkless_spawn = {
    .name = "forkless_spawn",
    .has_attributes = true,
    .prepare = prepare,
    .body = spawn,
    .pid = find_pid,
    .finish = finish_spawn,
    .cleanup = cleanup,
};

const struct strategy strategy_forkless_start = {
    .name = "forkless_start",
    .has_attributes = true,
    .prepare = prepare,
    .body = start,
    .pid = find_pid,
    .finish = finish_start,
    .cleanup = cleanup,
};

const struct strategy strategy_forkless_run = {
    .name = "forkless_run",
    .captures = true,
    .prepare = prepare,
    .body = run,
    .finish = finish_run,
    .release = release,
    .cleanup = cleanup,
};
