/* Captures by hand: posix_spawn, then poll and read into a buffer that grows, then wait4. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "raw.h"

enum { PIECE = 64 * 1024 }; /* what a pipe holds */

/* Its standard output is the pipe `to`. */
static int start(pid_t *pid, int to) {
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return -rc;
    rc = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn(pid, raw_argv[0], &actions, NULL, raw_argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

/* Room for one piece more. */
static int grow(struct born *born, size_t *room) {
    if (*room - born->output_size >= PIECE)
        return 0;
    size_t more = *room ? 2 * *room : PIECE;
    char *output = realloc(born->output, more);
    if (!output)
        return -ENOMEM;
    born->output = output;
    *room = more;
    return 0;
}

static int read_all(struct born *born, int from) {
    struct pollfd poll_from = {.fd = from, .events = POLLIN};
    size_t room = 0;
    for (;;) {
        int rc = grow(born, &room);
        if (rc < 0)
            return rc;
        ssize_t size = poll(&poll_from, 1, -1);
        if (size > 0)
            size = read(from, born->output + born->output_size, PIECE);
        if (size == 0)
            return 0;
        if (size > 0)
            born->output_size += (size_t)size;
        else if (errno != EINTR)
            return -errno;
    }
}

static void release(struct born *born) {
    free(born->output);
    born->output = NULL;
}

static int body(struct born *born) {
    int ends[2];
    born->output = NULL;
    born->output_size = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int rc = start(&born->pid, ends[1]);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return rc;
    }
    rc = read_all(born, ends[0]);
    close(ends[0]); /* before the wait: after an error a child that writes on ends of SIGPIPE */
    int waited = raw_finish(born, &born->ended);
    rc = rc < 0 ? rc : waited;
    if (rc < 0)
        release(born);
    return rc;
}

static int finish(struct born *born, struct ended *ended) {
    *ended = born->ended;
    return 0;
}

const struct strategy strategy_posix_spawn_read = {
    .name = "posix_spawn_read",
    .captures = true,
    .prepare = raw_prepare,
    .body = body,
    .finish = finish,
    .release = release,
};
