/* What may come of a plan, and what may not. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "children.h"
#include "figures.h"
#include "plan.h"
#include "stream.h"

enum { PATIENCE_MS = 100000 }; /* with what has to happen at once */

static const char *expectation(const struct plan *p, int code) {
    int i = code - ACTOR_MISMATCH;
    return i >= 0 && i < p->expectations ? p->expectation[i] : "none";
}

static void check_exit(struct worker *w, const struct plan *p, int code) {
    bool lost_reader = code == ACTOR_NO_READER && p->may_lose_reader && p->sigpipe_ignored;
    if (p->reason.code)
        wrong(w, "exit status %d of what cannot be executed", code);
    if (code == p->code || lost_reader)
        return;
    wrong(w, "exit status %d, not %d (expectation: %s)", code, p->code, expectation(p, code));
}

static void check_death(struct worker *w, const struct plan *p, int signal) {
    bool own = signal == p->signal && p->reason.code == 0;
    bool no_reader = signal == SIGPIPE && p->may_lose_reader && !p->sigpipe_ignored;
    if (!own && !no_reader && !worker_was_hit(w, signal))
        wrong(w, "died of signal %d, which nobody sent", signal);
}

static void check_error(struct worker *w, const struct plan *p, int rc, const forkless_error *e) {
    char text[512];
    forkless_error_print(e, text, sizeof text);
    if (rc != e->code)
        wrong(w, "returned %d and an error with %d: %s", rc, e->code, text);
    if (rc != p->reason.code || e->step != p->reason.step || e->index != p->reason.index)
        wrong(w, "%s (%d, step %s, index %d), not (%d, step %s, index %d)", text, rc,
              forkless_step_name(e->step), e->index, p->reason.code,
              forkless_step_name(p->reason.step), p->reason.index);
    count(EXEC_ERRORS, 1);
}

void plan_check(struct worker *w, struct plan *p, int rc, const forkless_status *status,
                const forkless_error *error) {
    if (rc < 0) {
        check_error(w, p, rc, error);
        return;
    }
    if (error->code != 0)
        wrong(w, "returned 0 and an error with %d", error->code);
    if (status->how == FORKLESS_EXITED) {
        check_exit(w, p, status->code);
        if (!status->execed)
            wrong(w, "exited, but did not exec");
        count(EXITED, 1);
    } else if (status->how == FORKLESS_KILLED) {
        check_death(w, p, status->code);
        if (p->reason.code && status->execed && !p->helped)
            wrong(w, "has exec'd what cannot be executed");
        count(DIED, 1);
    } else {
        wrong(w, "status unknown (%d)", (int)status->how);
    }
}

/* What the library does not wait for any more ends with 127 where forkless-exec tells it. */
void plan_check_raw(struct worker *w, struct plan *p, int status) {
    if (WIFSIGNALED(status))
        check_death(w, p, WTERMSIG(status));
    else if (p->helped && p->reason.code) {
        if (WEXITSTATUS(status) != 127)
            wrong(w, "exit status %d of a helper that failed", WEXITSTATUS(status));
    } else
        check_exit(w, p, WEXITSTATUS(status));
    count(WIFSIGNALED(status) ? DIED : EXITED, 1);
}

void plan_check_stream(struct worker *w, const struct plan *p, const char *what,
                       const unsigned char *bytes, size_t size, bool errors) {
    size_t most = errors ? p->errors : p->behaviour == ENDLESS ? SIZE_MAX : p->output;
    if (size > most)
        wrong(w, "%s: %zu bytes, which are more than %zu", what, size, most);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != stream_byte(p->stream, i, errors ? STREAM_ERRORS : 0))
            wrong(w, "%s: byte %zu of %zu is %d", what, i, size, bytes[i]);
    count(CAPTURED, (long)size);
}

/* ---- leases ---- */

void plan_started(struct plan *p) {
    if (p->theirs >= 0)
        close(p->theirs);
    p->theirs = -1;
}

void plan_check_gone(struct worker *w, struct plan *p) {
    struct pollfd lease = {.fd = p->lease};
    plan_started(p);
    if (p->lease < 0 || poll(&lease, 1, PATIENCE_MS) == 1)
        return;
    children_print();
    wrong(w, "somebody of a tree (behaviour %d) that was to end lives on", (int)p->behaviour);
}

void plan_end(struct worker *w, struct plan *p) {
    if (p->lease >= 0) {
        MUST(shutdown(p->lease, SHUT_WR) == 0);
        plan_check_gone(w, p);
        close(p->lease);
    }
    forkless_command_free(p->command);
}
