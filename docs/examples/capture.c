/* capture SECONDS COMMAND [ARGUMENT...]: what the command writes, as
 * it comes, unless it takes longer. Where it may be shown at the end
 * forkless_run() does all this: run.c. */
#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int left_ms(int64_t deadline) {
    int64_t left = deadline - forkless_deadline_in(0);
    return left <= 0 ? 0 : (int)(left / 1000000 + 1);
}

/* Until the pipe is at its end, or the child has ended and the pipe
 * is empty: somebody to whom the child handed it may hold it open
 * much longer. -ETIMEDOUT at the deadline. */
static int copy_output(int from, int pidfd, int64_t deadline) {
    struct pollfd polls[] = {{.fd = from, .events = POLLIN},
                             {.fd = pidfd, .events = POLLIN}};
    char buffer[4096];

    for (;;) {
        int n = poll(polls, 2, left_ms(deadline));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (left_ms(deadline) == 0)
            return -ETIMEDOUT;
        if (polls[0].revents) {
            ssize_t size = read(from, buffer, sizeof buffer);
            if (size <= 0)
                return size < 0 ? -errno : 0;
            fwrite(buffer, 1, (size_t)size, stdout);
        } else if (polls[1].revents) {
            return 0;
        }
    }
}

static int fail(const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    fprintf(stderr, "capture: %s\n", sentence);
    return 1;
}

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error;
    forkless_status status;

    if (argc < 3 || forkless_command_new(&command, argv[2]) < 0)
        return 2;
    for (int i = 3; i < argc; i++)
        forkless_command_arg(command, argv[i]);
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);
    forkless_command_pipe(command, 1, FORKLESS_WRITES);
    forkless_command_group(command, 0);

    int64_t ns = (int64_t)(atof(argv[1]) * 1e9);
    int64_t deadline = forkless_deadline_in(ns);
    int rc = forkless_start(command, &child, &error);
    forkless_command_free(command);
    if (rc < 0)
        return fail(&error);

    int output = forkless_child_pipe(child, 1);
    /* Belongs to the handle; negative where there is none. */
    int pidfd = forkless_pidfd(child);
    rc = copy_output(output, pidfd, deadline);
    if (rc == 0)
        rc = forkless_wait(child, deadline, NULL, NULL);
    if (rc == -ETIMEDOUT) {
        fprintf(stderr, "capture: it takes too long\n");
        forkless_kill(child, SIGKILL, FORKLESS_GROUP);
    }
    close(output);
    rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
    forkless_child_free(child);
    if (rc < 0)
        return fail(&error);
    return status.how == FORKLESS_EXITED ? status.code
                                         : 128 + status.code;
}
