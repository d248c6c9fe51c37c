/* One child, from its start to its end. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"
#include "operations.h"
#include "partner.h"

bool held_launch(struct worker *w, struct held *h) {
    struct plan *p = h->plan;
    bool start = chance(&w->random, 50);
    forkless_error error;
    const forkless_override override = {.arguments = p->arguments};
    sigset_t mask;
    int rc = (start ? forkless_start_with : forkless_spawn_with)(
        p->command, p->override ? &override : NULL, &h->child, &error);
    count(start ? STARTED : SPAWNED, 1);
    count(OVERRIDDEN, p->override);
    count(HELPED, p->helped);
    MUST(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    if (memcmp(&mask, &w->mask, 8) != 0)
        wrong(w, "the caller's mask has changed");
    if (rc == 0) {
        h->pid = forkless_pid(h->child);
        if (h->pid <= 0 || forkless_helped(h->child) != p->helped)
            wrong(w, "pid %d, helped %d", h->pid, forkless_helped(h->child));
        return true;
    }
    if (h->child)
        wrong(w, "a handle in spite of %d", rc);
    plan_check(w, p, rc, NULL, &error);
    return false;
}

/* ---- waiting ---- */

static int wait_in_slices(struct worker *w, struct held *h, forkless_status *status,
                          forkless_error *error) {
    int rc;
    while ((rc = forkless_wait(h->child, forkless_deadline_in(below(&w->random, 4000000)), status,
                               error)) == -ETIMEDOUT)
        ;
    return rc;
}

static int wait_for_pidfd(struct worker *w, struct held *h, forkless_status *status,
                          forkless_error *error) {
    struct pollfd pidfd = {.fd = forkless_pidfd(h->child), .events = POLLIN};
    if (pidfd.fd < 0 && pidfd.fd != -ESRCH)
        wrong(w, "pidfd: %s", strerror(-pidfd.fd));
    if (pidfd.fd >= 0) /* nobody has waited before */
        MUST(poll(&pidfd, 1, -1) == 1);
    int rc = forkless_wait(h->child, 0, status, error);
    if (rc == -ETIMEDOUT)
        wrong(w, "the pidfd says that it has ended, wait that it has not");
    return rc;
}

static int wait_by_poll(struct worker *w, struct held *h, forkless_status *status,
                        forkless_error *error) {
    struct pollfd fd = {.fd = forkless_poll_fd(h->child), .events = POLLIN};
    int state, before = FORKLESS_PENDING;
    while ((state = forkless_poll(h->child)) != FORKLESS_ENDED) {
        if (fd.fd < 0 || state < before || forkless_next_deadline(h->child) != FORKLESS_NEVER)
            wrong(w, "poll_fd %d, poll %d after %d", fd.fd, state, before);
        before = state;
        MUST(poll(&fd, 1, -1) == 1);
    }
    int rc = forkless_wait(h->child, 0, status, error);
    if (rc == -ETIMEDOUT)
        wrong(w, "poll says that it has ended, wait that it has not");
    return rc;
}

static int wait_for(struct worker *w, struct held *h, forkless_status *status,
                    forkless_error *error) {
    switch (below(&w->random, 4)) {
    case 0:
        return wait_in_slices(w, h, status, error);
    case 2:
        return wait_by_poll(w, h, status, error);
    case 1:
        return wait_for_pidfd(w, h, status, error);
    default:
        return forkless_wait(h->child, FORKLESS_NEVER, status, error);
    }
}

void held_same(struct worker *w, const forkless_status *a, const forkless_status *b) {
    if (a->how != b->how || a->code != b->code || a->execed != b->execed ||
        memcmp(&a->usage, &b->usage, sizeof a->usage) != 0)
        wrong(w, "two answers: %d %d, then %d %d", (int)a->how, a->code, (int)b->how, b->code);
}

/* It has been answered for; further calls say nothing else. */
static void check_again(struct worker *w, struct held *h, int rc, const forkless_status *status) {
    forkless_status again;
    forkless_error error;
    int later = forkless_wait(h->child, 0, &again, &error);
    if (later != rc || (rc < 0 && error.code != rc))
        wrong(w, "waited: %d, and again: %d", rc, later);
    if (rc == 0)
        held_same(w, status, &again);
    if ((later = forkless_kill(h->child, SIGKILL, FORKLESS_CHILD)) != -ESRCH)
        wrong(w, "kill of one that was waited for: %d", later);
}

static void check_output(struct worker *w, struct held *h, const forkless_status *s) {
    struct plan *p = h->plan;
    if (h->all_read && s->how == FORKLESS_EXITED && p->behaviour != ENDLESS &&
        (h->output != p->output || h->errors != p->errors))
        wrong(w, "of %zu and %zu bytes only %zu and %zu were read", p->output, p->errors, h->output,
              h->errors);
}

/* ---- ending ---- */

static enum forkless_whom choose_whom(struct worker *w, const struct plan *p) {
    if (p->in_cgroup && chance(&w->random, 50))
        return FORKLESS_CGROUP;
    return p->own_group && chance(&w->random, 70) ? FORKLESS_GROUP : FORKLESS_CHILD;
}

/* A zombie is in no cgroup. */
static void send_signal(struct worker *w, struct held *h, int signal) {
    enum forkless_whom whom = choose_whom(w, h->plan);
    worker_hit(w, signal);
    int rc = forkless_kill(h->child, signal, whom);
    if (rc == -ESRCH && whom == FORKLESS_CGROUP)
        rc = forkless_kill(h->child, signal, FORKLESS_CHILD);
    if (rc != 0)
        wrong(w, "kill of %d with %d: %s", (int)whom, signal, strerror(-rc));
}

/* Until nobody waits for us: politely at first. */
static void end_it(struct worker *w, struct held *h) {
    static const int polite[] = {SIGTERM, SIGUSR1, SIGHUP, SIGKILL};
    if (chance(&w->random, 30)) {
        shutdown(h->plan->lease, SHUT_WR);
        return;
    }
    send_signal(w, h, polite[below(&w->random, 4)]);
    if (forkless_wait(h->child, forkless_deadline_in(below(&w->random, 3000000)), NULL, NULL) ==
        -ETIMEDOUT)
        send_signal(w, h, SIGKILL);
}

static void continue_it(struct worker *w, struct held *h) {
    while (forkless_wait(h->child, forkless_deadline_in(2000000), NULL, NULL) == -ETIMEDOUT)
        send_signal(w, h, SIGCONT);
}

static bool has_to_be_ended(const struct plan *p) {
    return p->behaviour == LIVES || p->behaviour == STUBBORN || p->behaviour == TREE;
}

static void bring_to_end(struct worker *w, struct held *h) {
    if (h->answered)
        return;
    if (h->plan->behaviour == STOPS_ITSELF)
        continue_it(w, h);
    else if (has_to_be_ended(h->plan))
        end_it(w, h);
}

static void finish(struct worker *w, struct held *h) {
    forkless_status status;
    forkless_error error;
    bring_to_end(w, h);
    int rc = wait_for(w, h, &status, &error);
    plan_check(w, h->plan, rc, &status, &error);
    check_again(w, h, rc, &status);
    if (rc == 0)
        check_output(w, h, &status);
}

static void finish_with_partner(struct worker *w, struct held *h) {
    struct job j = {.work = (enum partner_work)below(&w->random, PARTNER_WORKS), .child = h->child};
    forkless_status status;
    forkless_error error;
    count(SHARED, 1);
    if (j.work == PARTNER_KILLS)
        worker_hit(w, SIGKILL);
    partner_begin(&j);
    if (j.work != PARTNER_KILLS && has_to_be_ended(h->plan))
        shutdown(h->plan->lease, SHUT_WR);
    else if (h->plan->behaviour == STOPS_ITSELF)
        while (forkless_wait(h->child, forkless_deadline_in(2000000), NULL, NULL) == -ETIMEDOUT)
            forkless_kill(h->child, SIGCONT, FORKLESS_CHILD);
    int rc = wait_for(w, h, &status, &error);
    partner_end(&j);
    plan_check(w, h->plan, rc, &status, &error);
    if (j.rc != rc)
        wrong(w, "a partner was told %d, the owner %d", j.rc, rc);
    if (rc == 0)
        held_same(w, &status, &j.status);
}

void held_finish(struct worker *w, struct held *h) {
    if (h->plan->piped)
        held_pump(w, h);
    if (!h->answered && chance(&w->random, 15)) {
        held_abandon(w, h);
        return;
    }
    if (chance(&w->random, 25))
        finish_with_partner(w, h);
    else
        finish(w, h);
    forkless_child_free(h->child);
}

/* ---- without a handle ---- */

/* What never exec'd is reaped by the library. */
static bool is_gone(struct worker *w, pid_t pid) {
    siginfo_t info = {0};
    forkless_quiesce(forkless_deadline_in(1000000));
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0)
        return false;
    if (errno != ECHILD)
        wrong(w, "waitid: %m");
    return true;
}

void held_abandon(struct worker *w, struct held *h) {
    struct plan *p = h->plan;
    int status;
    pid_t rc;
    forkless_child_free(h->child);
    count(FREED_RUNNING, 1);
    if (has_to_be_ended(p))
        shutdown(p->lease, SHUT_WR);
    while ((rc = waitpid(h->pid, &status, WNOHANG)) != h->pid) {
        if (rc < 0 && errno != ECHILD)
            wrong(w, "waitpid: %m");
        if (rc < 0 && is_gone(w, h->pid)) {
            bool killed = worker_was_hit(w, SIGKILL) || worker_was_hit(w, SIGTERM) ||
                          worker_was_hit(w, SIGUSR1);
            if (!p->reason.code && !killed)
                wrong(w, "one that was freed and can exec is gone");
            count(p->reason.code ? EXEC_ERRORS : DIED, 1);
            return;
        }
        if (p->behaviour == STOPS_ITSELF)
            kill(h->pid, SIGCONT);
        if (p->behaviour == ENDLESS && p->for_run)
            kill(h->pid, SIGKILL);
        nap_us(200);
    }
    plan_check_raw(w, p, status);
}
