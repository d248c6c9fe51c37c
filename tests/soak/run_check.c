#include "run_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "stream.h"

static bool ended_by_library(const struct running *r) {
    return r->result.timed_out || (r->result.limited && r->options.at_limit == FORKLESS_END);
}

/* ---- what was captured ---- */

static void check_one(struct worker *w, const struct running *r, const char *what,
                      const char *bytes, size_t size, uint64_t dropped, bool captured) {
    size_t limit = r->options.limit;
    if (captured != (bytes != NULL) || (!captured && (size || dropped)))
        wrong(w, "%s: %s, with %zu bytes", what, bytes ? "captured" : "not captured", size);
    if (bytes && bytes[size] != '\0')
        wrong(w, "%s: no NUL behind it", what);
    if (limit && size > limit)
        wrong(w, "%s: %zu bytes, the limit is %zu", what, size, limit);
    if (dropped && (!limit || size != limit))
        wrong(w, "%s: %lu bytes dropped after %zu, the limit is %zu", what, dropped, size, limit);
}

static void check_merged(struct worker *w, const struct running *r) {
    const unsigned char *bytes = (const unsigned char *)r->result.output;
    size_t size = r->result.output_size, count[2] = {0, 0};
    unsigned char *apart[2] = {malloc(size + 1), malloc(size + 1)};
    MUST(apart[0] && apart[1]);
    for (size_t i = 0; i < size; i++) {
        int errors = bytes[i] & STREAM_ERRORS ? 1 : 0;
        apart[errors][count[errors]++] = bytes[i];
    }
    plan_check_stream(w, &r->plan, "merged output", apart[0], count[0], false);
    plan_check_stream(w, &r->plan, "merged errors", apart[1], count[1], true);
    free(apart[0]);
    free(apart[1]);
}

static void check_bytes(struct worker *w, const struct running *r) {
    const forkless_result *result = &r->result;
    enum forkless_capture capture = r->options.capture;
    check_one(w, r, "output", result->output, result->output_size, result->output_dropped,
              capture != FORKLESS_CAPTURE_NONE);
    check_one(w, r, "errors", result->errors, result->errors_size, result->errors_dropped,
              capture == FORKLESS_CAPTURE_BOTH);
    if (capture == FORKLESS_CAPTURE_MERGED) {
        check_merged(w, r);
        return;
    }
    plan_check_stream(w, &r->plan, "output", (const unsigned char *)result->output,
                      result->output_size, false);
    plan_check_stream(w, &r->plan, "errors", (const unsigned char *)result->errors,
                      result->errors_size, true);
}

/* Of one that came to its own end. */
static void check_whole(struct worker *w, const struct running *r) {
    const struct plan *p = &r->plan;
    const forkless_result *result = &r->result;
    enum forkless_capture capture = r->options.capture;
    size_t output = capture == FORKLESS_CAPTURE_NONE ? 0 : p->output;
    size_t errors = capture == FORKLESS_CAPTURE_BOTH ? p->errors : 0;
    output += capture == FORKLESS_CAPTURE_MERGED ? p->errors : 0;
    if (result->output_size + result->output_dropped != output ||
        result->errors_size + result->errors_dropped != errors)
        wrong(w, "kept %zu and dropped %lu of %zu, and of the errors %zu and %lu of %zu",
              result->output_size, result->output_dropped, output, result->errors_size,
              result->errors_dropped, errors);
    if (p->behaviour == COPIES && result->input_written != p->output)
        wrong(w, "%zu of %zu bytes of the input were written", result->input_written, p->output);
}

/* ---- how it ended ---- */

static void check_flags(struct worker *w, const struct running *r) {
    const forkless_result *result = &r->result;
    const forkless_run_options *o = &r->options;
    bool dropped = result->output_dropped || result->errors_dropped;
    if (result->timed_out && (o->deadline_ns == 0 || now_ns() < o->deadline_ns))
        wrong(w, "ended at a deadline that has not come");
    if (result->limited != (dropped && o->at_limit != FORKLESS_DROP))
        wrong(w, "limited %d, dropped %d", result->limited, dropped);
    if (result->survivors && !ended_by_library(r))
        wrong(w, "survivors, and nobody was ended");
    if (result->input_written > o->input_size)
        wrong(w, "more input than there is: %zu", result->input_written);
    count(TIMEOUTS, result->timed_out);
    count(LIMITED, result->limited);
}

static void check_writers(struct worker *w, const struct running *r) {
    const struct plan *p = &r->plan;
    const forkless_result *result = &r->result;
    bool leaves = p->behaviour == LEAVES || p->behaviour == DAEMON;
    bool perhaps_killed = p->in_cgroup && worker_was_hit(w, SIGKILL); /* as others in it */
    bool own_end = result->status.how == FORKLESS_EXITED && result->status.code == p->code;
    if (leaves && own_end && !perhaps_killed && !result->limited && !result->timed_out &&
        !result->writers_remained && r->options.capture != FORKLESS_CAPTURE_NONE)
        wrong(w, "nobody is said to hold the outputs, but somebody does");
    /* Children of other threads do before their exec, which may be longer than grace. */
    count(HELD_BY_OTHERS, result->writers_remained && !leaves && p->behaviour != TREE);
}

/* One that leaves others behind may have ended before the limit was noticed. */
static bool ended_all(const struct running *r) {
    const struct plan *p = &r->plan;
    if (r->result.survivors || !ended_by_library(r) ||
        (!r->result.timed_out && (p->behaviour == LEAVES || p->behaviour == DAEMON)))
        return false;
    return r->options.whom == FORKLESS_CGROUP ||
           (r->options.whom == FORKLESS_GROUP && r->plan.behaviour != DAEMON);
}

static void check_status(struct worker *w, struct running *r, const forkless_error *error) {
    struct plan *p = &r->plan;
    const forkless_result *result = &r->result;
    if (ended_by_library(r)) {
        worker_hit(w, SIGTERM);
        worker_hit(w, SIGKILL);
    }
    p->may_lose_reader = result->limited && r->options.at_limit == FORKLESS_STOP;
    if (result->status.how == FORKLESS_UNKNOWN && ended_by_library(r) && result->survivors) {
        count(NOT_DEAD_IN_TIME, 1);
        w->unknown++;
        return;
    }
    plan_check(w, p, 0, &result->status, error);
    if (ended_all(r))
        plan_check_gone(w, p);
}

static void check_did_not_run(struct worker *w, const struct running *r,
                              const forkless_error *error) {
    const forkless_result *result = &r->result;
    if (result->output_size || result->errors_size ||
        (result->status.execed && result->status.how != FORKLESS_UNKNOWN))
        wrong(w, "it ran in spite of %d", error->code);
}

void run_check(struct worker *w, struct running *r, int rc, const forkless_error *error) {
    const struct plan *p = &r->plan;
    if (rc < 0) {
        check_did_not_run(w, r, error);
        bool late = rc == -ETIMEDOUT && error->step == FORKLESS_STEP_ARGUMENT && !r->child &&
                    r->options.deadline_ns && now_ns() >= r->options.deadline_ns;
        if (late)
            count(TIMEOUTS, 1);
        else
            plan_check(w, &r->plan, rc, NULL, error);
        return;
    }
    const forkless_status *s = &r->result.status;
    check_status(w, r, error);
    check_flags(w, r);
    check_bytes(w, r);
    check_writers(w, r);
    if (s->how == FORKLESS_EXITED && s->code == p->code && !p->may_lose_reader &&
        !ended_by_library(r) && p->behaviour != ENDLESS)
        check_whole(w, r);
}
