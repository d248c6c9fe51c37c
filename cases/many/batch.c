/* Batches of the library's: one launches in its caller's calls, one in a thread of its own. */
#include <errno.h>
#include <forkless.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../targets/target.h"
#include "attributes.h"
#include "case.h"

/* Neither fed nor captured: as the other strategies' children. */
static const forkless_run_options bare = {.capture = FORKLESS_CAPTURE_NONE};

static forkless_command *command;
static forkless_batch *batch;
static enum forkless_batch_mode mode;
static int held; /* for the attribute; 0: nothing */
static unsigned given;
static struct seen {
    unsigned ended, wrong;
    int error; /* of the first that failed; 0: none */
} seen;

/* After a failure some may run still: none is left behind. */
static void end(void) {
    if (batch && seen.ended < given) {
        forkless_batch_cancel(batch);
        forkless_batch_wait(batch, FORKLESS_NEVER);
    }
    forkless_batch_free(batch);
    batch = NULL;
}

static void cleanup(void) {
    end();
    forkless_command_free(command);
    command = NULL;
    if (held > 0)
        close(held);
    held = 0;
}

static int describe(const struct request *request) {
    int rc = forkless_command_new(&command, request->target);
    if (rc == 0 && request->attribute->set)
        rc = held = request->attribute->set(command);
    if (rc < 0)
        cleanup();
    return rc < 0 ? rc : 0;
}

static int prepare_direct(const struct request *request) {
    mode = FORKLESS_DIRECT;
    return describe(request);
}

static void reset(void) {
    seen = (struct seen){0};
    given = 0;
}

/* ---- many ---- */

static void see(forkless_batch *from, forkless_answer *answer, void *host) {
    const forkless_status *status = &answer->result.status;
    (void)from;
    (void)host;
    seen.ended++;
    seen.wrong += status->how != FORKLESS_EXITED || status->code != TARGET_STATUS;
    if (answer->answered != FORKLESS_RAN && seen.error == 0)
        seen.error = answer->error.code;
}

static int begin(unsigned commands, unsigned at_once) {
    const forkless_batch_options options = {.mode = mode, .at_once = at_once, .on_answer = see};
    (void)commands;
    reset();
    return forkless_batch_new(&batch, &options);
}

static int give(void) {
    int rc = forkless_batch_add(batch, command, &bare, NULL);
    given += rc == 0;
    return rc;
}

static int wait_some(void) {
    struct pollfd ready = {.fd = forkless_batch_fd(batch), .events = POLLIN};
    struct timespec now, *until = NULL, left;
    int64_t deadline = forkless_batch_next_deadline(batch);
    if (deadline != FORKLESS_NEVER) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t ns = deadline - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
        if (ns <= 0)
            return 0;
        left = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        until = &left;
    }
    return ppoll(&ready, 1, until, NULL) < 0 && errno != EINTR ? -errno : 0;
}

static int collect(unsigned *ended, unsigned *wrong) {
    int rc = forkless_batch_poll(batch);
    *ended = seen.ended;
    *wrong = seen.wrong;
    return rc < 0 ? rc : seen.error;
}

static const struct many many = {begin, give, wait_some, collect, end};

const struct strategy strategy_forkless_batch = {
    .name = "forkless_batch",
    .has_attributes = true,
    .keeps = true,
    .many = &many,
    .prepare = prepare_direct,
    .cleanup = cleanup,
};

/* ---- one after the other, handed to the thread ---- */

static int prepare_thread(const struct request *request) {
    const forkless_batch_options options = {.mode = FORKLESS_THREAD, .at_once = request->children};
    mode = FORKLESS_THREAD;
    int rc = describe(request);
    reset();
    if (rc == 0 && request->commands == 1)
        rc = forkless_batch_new(&batch, &options);
    if (rc < 0)
        cleanup();
    return rc;
}

static int body(struct born *born) {
    (void)born;
    return give();
}

static int finish(struct born *born, struct ended *ended) {
    forkless_answer answer;
    (void)born;
    int rc = forkless_batch_next(batch, FORKLESS_NEVER, &answer);
    if (rc < 0)
        return rc;
    seen.ended++;
    const forkless_status *status = &answer.result.status;
    rc = answer.answered == FORKLESS_RAN ? 0 : answer.error.code;
    ended->usage = status->usage;
    ended->status = status->how == FORKLESS_EXITED ? status->code << 8 : status->code;
    forkless_result_free(&answer.result);
    return rc;
}

/* The launcher's. */
static int64_t elsewhere(void) {
    struct timespec all, own;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    return (int64_t)(all.tv_sec - own.tv_sec) * 1000000000 + (all.tv_nsec - own.tv_nsec);
}

const struct strategy strategy_forkless_batch_thread = {
    .name = "forkless_batch_thread",
    .has_attributes = true,
    .keeps = true,
    .has_thread = true,
    .many = &many,
    .prepare = prepare_thread,
    .body = body,
    .finish = finish,
    .elsewhere = elsewhere,
    .cleanup = cleanup,
};
