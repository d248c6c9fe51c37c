#include <forkless.h>
#include <stdio.h>

int main(void) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error;
    forkless_status status;
    char sentence[256];

    if (forkless_command_new(&command, "/bin/echo") < 0)
        return 1;
    forkless_command_arg(command, "hello");
    /* Returns as soon as the child exists. */
    int rc = forkless_start(command, &child, &error);
    /* The child keeps what it still needs. */
    forkless_command_free(command);
    if (rc == 0) {
        rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
        forkless_child_free(child);
    }
    /* Also a program that could not be executed: an error, not
     * status 127. */
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        fprintf(stderr, "%s\n", sentence);
        return 1;
    }
    return status.how == FORKLESS_EXITED ? status.code : 1;
}
