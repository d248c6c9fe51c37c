/* terminal COMMAND [ARGUMENT...]: runs it in a new session on a
 * terminal of its own, as script(1) does, and shows what it writes
 * there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <forkless.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fail(const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    fprintf(stderr, "terminal: %s\n", sentence);
    return 1;
}

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error;
    forkless_status status;
    char buffer[1024];
    ssize_t size;

    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        perror("terminal");
        return 1;
    }
    if (argc < 2 || forkless_command_new(&command, argv[1]) < 0)
        return 2;
    for (int i = 2; i < argc; i++)
        forkless_command_arg(command, argv[i]);
    forkless_command_search(command);
    forkless_command_file(command, 0, ptsname(master),
                          O_RDWR | O_NOCTTY, 0);
    forkless_command_same(command, 1, 0);
    forkless_command_same(command, 2, 0);
    forkless_command_terminal(command, 0);

    int rc = forkless_spawn(command, &child, &error);
    forkless_command_free(command);
    if (rc < 0)
        return fail(&error);

    /* EIO when the last process has closed the terminal. */
    while ((size = read(master, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)size, stdout);
    close(master);
    rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
    forkless_child_free(child);
    if (rc < 0)
        return fail(&error);
    return status.how == FORKLESS_EXITED ? status.code
                                         : 128 + status.code;
}
