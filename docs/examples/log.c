/* log FILE COMMAND [ARGUMENT...]: as COMMAND </dev/null >>FILE 2>&1
 * in a shell. */
#include <fcntl.h>
#include <forkless.h>
#include <stdio.h>

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error;
    forkless_status status;
    char sentence[256];

    if (argc < 3 || forkless_command_new(&command, argv[2]) < 0)
        return 2;
    for (int i = 3; i < argc; i++)
        forkless_command_arg(command, argv[i]);
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);
    forkless_command_file(command, 1, argv[1],
                          O_WRONLY | O_CREAT | O_APPEND, 0644);
    forkless_command_same(command, 2, 1);

    int rc = forkless_start(command, &child, &error);
    forkless_command_free(command);
    if (rc == 0) {
        rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
        forkless_child_free(child);
    }
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        fprintf(stderr, "log: %s\n", sentence);
        return 1;
    }
    return status.how == FORKLESS_EXITED ? status.code : 1;
}
