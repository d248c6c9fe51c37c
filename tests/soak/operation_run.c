#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "figures.h"
#include "operations.h"
#include "partner.h"
#include "run_check.h"
#include "stream.h"

enum { RUNS = 4 };

/* ---- what is asked for ---- */

static void choose_capture(struct worker *w, struct running *r) {
    forkless_run_options *o = &r->options;
    o->capture = (enum forkless_capture)below(&w->random, 4);
    if (chance(&w->random, 40)) {
        o->limit = 1 + below(&w->random, chance(&w->random, 50) ? 1000 : 200000);
        o->at_limit = (enum forkless_at_limit)below(&w->random, 3);
    }
    if (r->plan.behaviour == COPIES || chance(&w->random, 20)) {
        o->input_size = r->plan.output;
        r->input = malloc(o->input_size + 1);
        MUST(r->input);
        stream_fill(r->input, o->input_size, r->plan.stream, 0, 0);
        o->input = r->input;
    }
    /* What is not captured is not for our own outputs. */
    if (o->capture == FORKLESS_CAPTURE_NONE)
        SET(w, forkless_command_file(r->plan.command, 1, "/dev/null", 1, 0));
    if (o->capture == FORKLESS_CAPTURE_NONE || o->capture == FORKLESS_CAPTURE_OUTPUT)
        SET(w, forkless_command_file(r->plan.command, 2, "/dev/null", 1, 0));
}

static bool ends_alone(const struct plan *p) {
    return p->behaviour < STOPS_ITSELF || p->behaviour == LEAVES || p->behaviour == DAEMON;
}

static void choose_end(struct worker *w, struct running *r) {
    forkless_run_options *o = &r->options;
    o->whom = (enum forkless_whom)below(&w->random, r->plan.in_cgroup ? 3 : 2);
    if (o->whom == FORKLESS_CGROUP) { /* all others of this operation, too */
        worker_hit(w, SIGTERM);
        worker_hit(w, SIGKILL);
    }
    o->grace_ns = chance(&w->random, 30) ? 0 : 1 + below(&w->random, 300) * INT64_C(1000000);
    o->linger_ns = chance(&w->random, 30) ? 0 : 1 + below(&w->random, 300) * INT64_C(1000000);
    if (!ends_alone(&r->plan) || chance(&w->random, 30))
        o->deadline_ns = forkless_deadline_in(below(&w->random, 1 << (18 + below(&w->random, 11))));
    else if (chance(&w->random, 30))
        o->deadline_ns = chance(&w->random, 50) ? FORKLESS_NEVER
                                                : forkless_deadline_in(INT64_C(3600) * 1000000000);
}

static void choose(struct worker *w, struct running *r) {
    memset(r, 0, sizeof *r);
    plan_make(w, &r->plan, true);
    choose_capture(w, r);
    if (r->plan.override) {
        r->override.arguments = r->plan.arguments;
        r->options.override = &r->override;
    }
    choose_end(w, r);
    worker_says(w, "(capture %d limit %zu policy %d whom %d grace %ld ms)", r->options.capture,
                r->options.limit, r->options.at_limit, r->options.whom,
                r->options.grace_ns / 1000000);
}

static void end(struct worker *w, struct running *r) {
    plan_end(w, &r->plan);
    forkless_result_free(&r->result);
    free(r->input);
}

/* ---- forkless_run() ---- */

static void run_one(struct worker *w) {
    struct running r;
    forkless_error error;
    choose(w, &r);
    count(RUN, 1);
    count(OVERRIDDEN, r.plan.override);
    count(HELPED, r.plan.helped);
    int rc = forkless_run(r.plan.command, &r.options, &r.result, &error);
    plan_started(&r.plan);
    run_check(w, &r, rc, &error);
    end(w, &r);
}

/* ---- forkless_run_start() ---- */

static bool begin(struct worker *w, struct running *r) {
    forkless_error error;
    choose(w, r);
    count(RUN_STARTED, 1);
    int rc = forkless_run_start(r->plan.command, &r->options, &r->child, &error);
    plan_started(&r->plan);
    if (rc == 0)
        return true;
    if (r->child)
        wrong(w, "a handle in spite of %d", rc);
    run_check(w, r, rc, &error);
    end(w, r);
    return false;
}

static void finish(struct worker *w, struct running *r) {
    forkless_status status;
    forkless_error error;
    int rc = forkless_wait(r->child, 0, &status, &error);
    if (rc == -ETIMEDOUT)
        wrong(w, "it was over, and wait says that it is not");
    int given = forkless_run_result(r->child, &r->result, NULL);
    if (given != rc)
        wrong(w, "the result is %d, and wait says %d", given, rc);
    given = forkless_run_result(r->child, &(forkless_result){0}, NULL);
    if (given != (rc < 0 ? rc : -EBADF))
        wrong(w, "a second result: %d", given);
    if (rc == 0)
        held_same(w, &status, &r->result.status);
    run_check(w, r, rc, &error);
    forkless_child_free(r->child);
    end(w, r);
}

static void drive_by_wait(struct worker *w, struct running *r) {
    while (forkless_wait(r->child, forkless_deadline_in(below(&w->random, 5000000)), NULL, NULL) ==
           -ETIMEDOUT)
        if (forkless_run_result(r->child, &(forkless_result){0}, NULL) != -EBUSY)
            wrong(w, "a result before it is over");
}

static void drive_with_partner(struct worker *w, struct running *r) {
    struct job j = {.work = (enum partner_work)below(&w->random, PARTNER_WORKS), .child = r->child};
    forkless_status status;
    count(SHARED, 1);
    if (j.work == PARTNER_KILLS)
        worker_hit(w, SIGKILL);
    partner_begin(&j);
    int rc = forkless_wait(r->child, FORKLESS_NEVER, &status, NULL);
    partner_end(&j);
    if (j.rc != rc)
        wrong(w, "a partner was told %d, the owner %d", j.rc, rc);
    if (rc == 0)
        held_same(w, &status, &j.status);
}

/* As an event loop does. */
static void drive_by_poll(struct worker *w, struct running *r) {
    struct pollfd fd = {.fd = forkless_poll_fd(r->child), .events = POLLIN};
    int state, before = FORKLESS_PENDING;
    if (fd.fd < 0)
        wrong(w, "poll_fd: %s", strerror(-fd.fd));
    while ((state = forkless_poll(r->child)) != FORKLESS_ENDED) {
        if (state < before)
            wrong(w, "poll says %d after %d", state, before);
        before = state;
        int64_t next = forkless_next_deadline(r->child);
        int64_t ns = next == FORKLESS_NEVER ? -1 : next - now_ns();
        poll(&fd, 1, next == FORKLESS_NEVER ? -1 : ns <= 0 ? 0 : (int)(ns / 1000000 + 1));
    }
}

static void drive(struct worker *w, struct running *r) {
    switch (below(&w->random, 3)) {
    case 0:
        drive_by_wait(w, r);
        break;
    case 1:
        drive_with_partner(w, r);
        break;
    case 2:
        drive_by_poll(w, r);
        break;
    }
    finish(w, r);
}

/* Its outputs are closed, and it goes on. */
static void leave(struct worker *w, struct running *r) {
    struct held h = {.plan = &r->plan, .child = r->child, .pid = forkless_pid(r->child)};
    r->plan.may_lose_reader = true;
    /* It may have been ended meanwhile. */
    worker_hit(w, SIGTERM);
    worker_hit(w, SIGKILL);
    held_abandon(w, &h);
    end(w, r);
}

static void drive_all(struct worker *w, struct running *runs, size_t n) {
    forkless_child *children[RUNS];
    size_t which;
    for (size_t i = 0; i < n; i++)
        children[i] = runs[i].child;
    for (size_t left = n; left > 0; left--) {
        int rc = forkless_wait_any(children, n, FORKLESS_NEVER, &which);
        if (rc != 0 || which >= n || !children[which])
            wrong(w, "wait_any: %d, %zu of %zu", rc, which, n);
        children[which] = NULL;
        finish(w, &runs[which]);
    }
}

static void run_some(struct worker *w) {
    struct running runs[RUNS];
    size_t n = 0;
    for (unsigned i = 1 + below(&w->random, RUNS); i > 0; i--)
        n += begin(w, &runs[n]);
    while (n > 0 && chance(&w->random, 10))
        leave(w, &runs[--n]);
    if (chance(&w->random, 50))
        drive_all(w, runs, n);
    else
        while (n > 0)
            drive(w, &runs[--n]);
}

void operation_run(struct worker *w) {
    if (chance(&w->random, 40))
        run_one(w);
    else
        run_some(w);
}
