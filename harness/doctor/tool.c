#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "paths.h"

static const int64_t END_NS = INT64_C(10000000000); /* it may have memory to give back */

enum { OUT, ERR, STREAMS };

struct stream {
    int fd; /* the reading end; -1 when it has ended */
    FILE *text;
    char *bytes;
    size_t size;
};

/* 0 or -errno. */
static int start(const struct tool *t, const char *path, const int to[STREAMS],
                 forkless_child **child, forkless_error *error) {
    forkless_command *command;
    int rc = forkless_command_new(&command, path);
    if (rc < 0)
        return rc;
    for (const char *const *argument = t->arguments; *argument; argument++)
        forkless_command_arg(command, *argument);
    forkless_command_fd(command, STDOUT_FILENO, to[OUT]);
    forkless_command_fd(command, STDERR_FILENO, to[ERR]);
    rc = forkless_spawn(command, child, error);
    forkless_command_free(command);
    return rc;
}

static void read_some(struct stream *s) {
    char bytes[4096];
    ssize_t n = read(s->fd, bytes, sizeof bytes);
    if (n > 0) {
        fwrite(bytes, 1, (size_t)n, s->text);
    } else if (n == 0 || errno != EINTR) {
        close(s->fd);
        s->fd = -1;
    }
}

static void listen_to(struct tool *t, struct stream streams[STREAMS]) {
    while (!t->interrupted && (streams[OUT].fd >= 0 || streams[ERR].fd >= 0)) {
        struct pollfd polled[] = {{.fd = streams[OUT].fd, .events = POLLIN},
                                  {.fd = streams[ERR].fd, .events = POLLIN},
                                  {.fd = t->signals, .events = POLLIN}};
        if (poll(polled, 3, -1) <= 0)
            continue;
        for (int i = 0; i < STREAMS; i++)
            if (polled[i].revents)
                read_some(&streams[i]);
        t->interrupted = polled[STREAMS].revents != 0;
    }
}

static void end(struct tool *t, forkless_child *child) {
    forkless_status status;
    if (t->interrupted)
        forkless_kill(child, SIGTERM, FORKLESS_CHILD);
    int rc =
        forkless_wait(child, t->interrupted ? now_ns() + END_NS : FORKLESS_NEVER, &status, NULL);
    if (rc < 0) {
        forkless_kill(child, SIGKILL, FORKLESS_CHILD);
        rc = forkless_wait(child, FORKLESS_NEVER, &status, NULL);
    }
    forkless_child_free(child);
    if (rc == 0 && status.how == FORKLESS_EXITED)
        t->status = status.code;
    else if (rc == 0 && status.how == FORKLESS_KILLED)
        snprintf(t->last, sizeof t->last, "forkless-%s was killed by signal %d (%s)", t->name,
                 status.code, strsignal(status.code));
    else
        snprintf(t->last, sizeof t->last, "nobody knows how forkless-%s ended", t->name);
}

static void keep_last_line(struct tool *t, char *text) {
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *newline = strrchr(text, '\n');
    snprintf(t->last, sizeof t->last, "%s", newline ? newline + 1 : text);
}

static void run(struct tool *t, const char *path, struct stream streams[STREAMS], int to[STREAMS]) {
    forkless_child *child;
    forkless_error error = {0};
    int rc = start(t, path, to, &child, &error);
    for (int i = 0; i < STREAMS; i++) {
        close(to[i]);
        to[i] = -1;
    }
    if (rc < 0) {
        if (error.code)
            forkless_error_print(&error, t->last, sizeof t->last);
        else
            snprintf(t->last, sizeof t->last, "%s", strerror(-rc));
        return;
    }
    listen_to(t, streams);
    for (int i = 0; i < STREAMS; i++)
        fflush(streams[i].text);
    keep_last_line(t, streams[ERR].bytes);
    end(t, child);
}

void tool_run(struct tool *t) {
    char path[4096];
    struct stream streams[STREAMS] = {{.fd = -1}, {.fd = -1}};
    int to[STREAMS] = {-1, -1}, pair[2];
    bool ready = path_program(t->name, path, sizeof path);
    t->status = -1;
    t->output = NULL;
    t->interrupted = false;
    snprintf(t->last, sizeof t->last, "forkless-%s could not be run: %s", t->name,
             ready ? "no more descriptors or memory" : "its path is too long");
    for (int i = 0; ready && i < STREAMS; i++) {
        streams[i].text = open_memstream(&streams[i].bytes, &streams[i].size);
        ready = streams[i].text && pipe2(pair, O_CLOEXEC) == 0;
        if (ready) {
            streams[i].fd = pair[0];
            to[i] = pair[1];
        }
    }
    if (ready)
        run(t, path, streams, to);
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].fd >= 0)
            close(streams[i].fd);
        if (to[i] >= 0)
            close(to[i]);
        if (streams[i].text)
            fclose(streams[i].text);
    }
    t->output = streams[OUT].bytes;
    free(streams[ERR].bytes);
}
