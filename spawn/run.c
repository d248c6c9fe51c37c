/* Runs: from a command and options to a child, and from its end to a result. */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "handle.h"
#include "own.h"
#include "stamps.h"
#include "start.h"
#include "wait.h"

enum { STANDARD_GRACE_NS = FL_SECOND_NS / 2 };

/* The argument that is wrong, or NULL. */
static const char *wrong_argument(const forkless_command *c, const forkless_run_options *o) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        reserved |= o->reserved[i];
    if (reserved)
        return "reserved is not 0";
    if ((unsigned)o->capture > FORKLESS_CAPTURE_NONE)
        return "there is no such capture";
    if ((unsigned)o->at_limit > FORKLESS_END)
        return "there is no such at_limit";
    if ((unsigned)o->whom > FORKLESS_CGROUP)
        return "there is no such whom";
    if (o->grace_ns < 0 || o->linger_ns < 0)
        return "grace_ns or linger_ns is negative";
    if (!o->input && o->input_size)
        return "input_size is given, and no input";
    if (!c)
        return "there is no command";
    if (o->whom == FORKLESS_CGROUP && c->cgroup < 0 && !c->cgroup_path)
        return "whom is its cgroup, and the command has none";
    return NULL;
}

static int refuse(int code, const char *reason, forkless_error *error) {
    fl_error(error, code, FORKLESS_STEP_ARGUMENT, -1, NULL);
    if (error)
        snprintf(error->reason, sizeof error->reason, "%s", reason);
    return code;
}

static int check(const forkless_command *c, const forkless_run_options *o, forkless_error *error) {
    const char *wrong = wrong_argument(c, o);
    if (wrong)
        return refuse(-EINVAL, wrong, error);
    if (o->deadline_ns == 0 || fl_left(o->deadline_ns) > 0)
        return 0;
    return refuse(-ETIMEDOUT, "the deadline has passed; nothing was started", error);
}

static struct fl_run *make(const forkless_run_options *o) {
    struct fl_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct fl_run){
        .input = {.fd = -1, .data = o->input, .size = o->input_size},
        .at_limit = o->at_limit,
        .deadline = o->deadline_ns ? o->deadline_ns : FORKLESS_NEVER,
        .grace = o->grace_ns ? o->grace_ns : STANDARD_GRACE_NS,
        .linger = o->linger_ns ? o->linger_ns : STANDARD_GRACE_NS,
        .whom = o->whom,
        .epoll = -1,
        .watched = -1,
    };
    for (int i = 0; i < 2; i++)
        run->outputs[i] = (struct fl_output){.fd = -1, .limit = o->limit ? o->limit : SIZE_MAX};
    run->outputs[0].captured = o->capture != FORKLESS_CAPTURE_NONE;
    run->outputs[1].captured = o->capture == FORKLESS_CAPTURE_BOTH;
    return run;
}

/* The ends that are the run's. */
static void take_ends(forkless_child *child, const forkless_run_options *o) {
    struct fl_run *run = child->run;
    if (o->input)
        run->input.fd = forkless_child_pipe(child, 0);
    if (run->outputs[0].captured)
        run->outputs[0].fd = forkless_child_pipe(child, 1);
    if (run->outputs[1].captured)
        run->outputs[1].fd = forkless_child_pipe(child, 2);
    if (run->input.fd >= 0 && o->input_size == 0)
        fl_run_close(run, &run->input.fd);
}

static struct fl_extra_pipes pipes_of(const forkless_run_options *o) {
    return (struct fl_extra_pipes){
        .input = o->input != NULL,
        .output = o->capture != FORKLESS_CAPTURE_NONE,
        .errors = o->capture == FORKLESS_CAPTURE_BOTH || o->capture == FORKLESS_CAPTURE_MERGED,
        .merged = o->capture == FORKLESS_CAPTURE_MERGED,
    };
}

static int start_plain(const forkless_command *command, const struct fl_start *more,
                       forkless_child **out, forkless_error *error) {
    int rc = fl_start(command, more, out, error);
    if (rc == 0)
        fl_stamps_started(*out);
    return rc;
}

static int start(const forkless_command *command, const forkless_run_options *o,
                 const struct fl_start *batched, forkless_child **out, forkless_error *error) {
    static const forkless_run_options standard;
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    if (out)
        *out = NULL;
    if (!o)
        o = &standard;
    int rc = out ? check(command, o, error) : refuse(-EINVAL, "out is NULL", error);
    if (rc < 0)
        return rc;
    struct fl_start more = batched ? *batched : (struct fl_start){0};
    more.override = o->override;
    more.pipes = pipes_of(o);
    more.leads = o->whom == FORKLESS_GROUP;
    if (batched && !more.pipes.input && !more.pipes.output)
        return start_plain(command, &more, out, error);
    struct fl_run *run = make(o);
    if (!run)
        return fl_error(error, -ENOMEM, FORKLESS_STEP_SLOT, -1, NULL);
    rc = fl_start(command, &more, out, error);
    if (rc < 0) {
        free(run);
        return rc;
    }
    (*out)->run = run;
    take_ends(*out, o);
    fl_pidfd(*out);
    fl_stamps_started(*out);
    return 0;
}

int forkless_run_start(const forkless_command *command, const forkless_run_options *options,
                       forkless_child **out, forkless_error *error) {
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    int rc = start(command, options, NULL, out, error);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

int fl_run_start_batched(const forkless_command *command, const forkless_run_options *options,
                         const struct fl_start *more, forkless_child **out, forkless_error *error) {
    return start(command, options, more, out, error);
}

bool fl_run_adopt(forkless_child *child, const forkless_run_options *o) {
    child->run = make(o);
    return child->run != NULL;
}

static void take(forkless_child *child, forkless_result *result) {
    struct fl_run *run = child->run;
    *result = (forkless_result){
        .status = child->status,
        .output_size = run->outputs[0].size,
        .errors_size = run->outputs[1].size,
        .output_dropped = run->outputs[0].dropped,
        .errors_dropped = run->outputs[1].dropped,
        .input_written = run->input.written,
        .timed_out = run->timed_out,
        .limited = run->limited,
        .writers_remained = run->writers_remained,
        .survivors = run->survivors,
    };
    if (run->outputs[0].captured)
        result->output = fl_output_take(&run->outputs[0]);
    if (run->outputs[1].captured)
        result->errors = fl_output_take(&run->outputs[1]);
    run->taken = true;
}

static int result_of(forkless_child *child, forkless_result *result, forkless_error *error) {
    const struct fl_run *run = child->run;
    if (!run)
        return refuse(-EBADF, "it is no run", error);
    if (!run->over)
        return refuse(-EBUSY, "the run is not over", error);
    if (child->record.code < 0)
        return fl_verdict(child, NULL, error);
    if (run->taken)
        return refuse(-EBADF, "its result was taken", error);
    take(child, result);
    return 0;
}

int forkless_run_result(forkless_child *child, forkless_result *result, forkless_error *error) {
    fl_error(error, 0, FORKLESS_STEP_NONE, -1, NULL);
    if (!result)
        return refuse(-EINVAL, "result is NULL", error);
    *result = (forkless_result){0};
    if (child && !fl_slot_is_ours(child))
        return fl_error(error, -ECHILD, FORKLESS_STEP_WAIT, -1, NULL);
    if (!fl_slot_is_held(child))
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    int saved = errno;
    struct fl_cancel before = fl_handle_lock(child);
    int rc = result_of(child, result, error);
    fl_handle_unlock(child, before);
    errno = saved;
    return rc;
}

void forkless_result_free(forkless_result *result) {
    if (!result)
        return;
    int saved = errno;
    free(result->output);
    free(result->errors);
    *result = (forkless_result){0};
    errno = saved;
}

int forkless_run(const forkless_command *command, const forkless_run_options *options,
                 forkless_result *result, forkless_error *error) {
    forkless_child *child;
    if (!result)
        return refuse(-EINVAL, "result is NULL", error);
    *result = (forkless_result){0};
    int rc = forkless_run_start(command, options, &child, error);
    if (rc < 0)
        return rc;
    rc = forkless_wait(child, FORKLESS_NEVER, NULL, error);
    if (rc == 0)
        rc = forkless_run_result(child, result, error);
    child->unknown = true; /* be it that not even SIGKILL has ended it */
    forkless_child_free(child);
    return rc;
}

void fl_run_free(forkless_child *child) {
    struct fl_run *run = child->run;
    if (!run)
        return;
    child->run = NULL;
    fl_run_close(run, &run->input.fd);
    fl_run_close(run, &run->outputs[0].fd);
    fl_run_close(run, &run->outputs[1].fd);
    fl_close(run->epoll);
    free(run->outputs[0].data);
    free(run->outputs[1].data);
    free(run);
}
