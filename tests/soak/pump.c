/* Feeding and reading a child by its pipes. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "operations.h"
#include "stream.h"

struct pump {
    struct worker *worker;
    struct held *held;
    struct pollfd fds[3]; /* the child's 0, 1, 2 */
    size_t fed;
    unsigned char *bytes[2];
    size_t size[2], room[2];
    size_t leave_at; /* the reader goes when it has so much; SIZE_MAX: never */
};

static void end_one(struct pollfd *fd) {
    if (fd->fd >= 0)
        close(fd->fd);
    fd->fd = -1;
}

/* The SIGPIPE of our own writing, and no other. */
static ssize_t write_quietly(int fd, const void *bytes, size_t size) {
    const struct timespec now = {0};
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t n = write(fd, bytes, size);
    int code = errno;
    if (n < 0 && code == EPIPE)
        sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return n;
}

static void feed(struct pump *p) {
    unsigned char buffer[4096];
    const struct plan *plan = p->held->plan;
    size_t left = plan->output - p->fed, size = left < sizeof buffer ? left : sizeof buffer;
    stream_fill(buffer, size, plan->stream, p->fed, 0);
    ssize_t n = size ? write_quietly(p->fds[0].fd, buffer, size) : 0;
    if (n < 0 && errno != EPIPE)
        wrong(p->worker, "feeding: %m");
    p->fed += n > 0 ? (size_t)n : 0;
    if (n < 0 || p->fed == plan->output)
        end_one(&p->fds[0]);
}

static void keep(struct pump *p, int which, const unsigned char *bytes, size_t size) {
    if (p->size[which] + size > p->room[which]) {
        p->room[which] = 2 * p->room[which] + size;
        p->bytes[which] = realloc(p->bytes[which], p->room[which]);
        MUST(p->bytes[which]);
    }
    memcpy(p->bytes[which] + p->size[which], bytes, size);
    p->size[which] += size;
}

/* Merged outputs are taken apart. */
static void sort_in(struct pump *p, int which, const unsigned char *bytes, size_t size) {
    if (!p->held->plan->merged) {
        keep(p, which, bytes, size);
        return;
    }
    for (size_t from = 0, to; from < size; from = to) {
        for (to = from;
             to < size && !(bytes[to] & STREAM_ERRORS) == !(bytes[from] & STREAM_ERRORS);)
            to++;
        keep(p, bytes[from] & STREAM_ERRORS ? 1 : 0, bytes + from, to - from);
    }
}

static void take(struct pump *p, int fd) {
    unsigned char buffer[8192];
    ssize_t n = read(p->fds[fd].fd, buffer, sizeof buffer);
    if (n < 0)
        wrong(p->worker, "reading: %m");
    if (n == 0)
        end_one(&p->fds[fd]);
    else
        sort_in(p, fd - 1, buffer, (size_t)n);
}

static void leave(struct pump *p) {
    p->held->plan->may_lose_reader = true;
    for (int fd = 0; fd < 3; fd++)
        end_one(&p->fds[fd]);
}

static void begin(struct pump *p) {
    struct plan *plan = p->held->plan;
    for (int fd = 0; fd < 3; fd++) {
        bool has = fd == 1 || (fd == 0 && plan->behaviour == COPIES) || (fd == 2 && !plan->merged);
        int end = forkless_child_pipe(p->held->child, fd);
        if (has ? end < 3 : end != -EBADF)
            wrong(p->worker, "pipe %d is %d", fd, end);
        p->fds[fd] = (struct pollfd){.fd = end, .events = fd ? POLLIN : POLLOUT};
    }
    p->leave_at = SIZE_MAX;
    if (plan->behaviour == ENDLESS || chance(&p->worker->random, 10))
        p->leave_at = below(&p->worker->random, 100000);
    /* Those who were left behind hold the pipes. */
    if (plan->lease >= 0)
        shutdown(plan->lease, SHUT_WR);
}

void held_pump(struct worker *w, struct held *h) {
    struct pump p = {.worker = w, .held = h};
    begin(&p);
    while (p.fds[0].fd >= 0 || p.fds[1].fd >= 0 || p.fds[2].fd >= 0) {
        MUST(poll(p.fds, 3, -1) > 0);
        if (p.fds[0].revents)
            feed(&p);
        for (int fd = 1; fd < 3; fd++)
            if (p.fds[fd].revents)
                take(&p, fd);
        if (p.size[0] >= p.leave_at)
            leave(&p);
    }
    plan_check_stream(w, h->plan, "output", p.bytes[0], p.size[0], false);
    plan_check_stream(w, h->plan, "errors", p.bytes[1], p.size[1], true);
    h->all_read = !h->plan->may_lose_reader;
    h->output = p.size[0];
    h->errors = p.size[1];
    free(p.bytes[0]);
    free(p.bytes[1]);
}
