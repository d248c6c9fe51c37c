/* many PID...: the name of each process. One command, which many
 * children share; what differs comes with each start. */
#include <forkless.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    fprintf(stderr, "many: %s\n", sentence);
    return 1;
}

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_child **children =
        calloc((size_t)argc, sizeof *children);
    forkless_error error;
    forkless_status status;
    int failed = 0;

    if (!children || forkless_command_new(&command, "ps") < 0)
        return 1;
    forkless_command_search(command);
    forkless_command_arg(command, "-o");
    forkless_command_arg(command, "pid=,comm=");
    forkless_command_arg(command, "-p");

    for (int i = 1; i < argc; i++) {
        /* Behind the command's own. */
        const char *arguments[] = {argv[i], NULL};
        forkless_override override = {.arguments = arguments};
        if (forkless_start_with(command, &override, &children[i],
                                &error) < 0)
            failed = fail(&error);
    }
    forkless_command_free(command);

    for (int i = 1; i < argc; i++) {
        if (!children[i])
            continue;
        if (forkless_wait(children[i], FORKLESS_NEVER, &status,
                          &error) < 0)
            failed = fail(&error);
        else if (status.how != FORKLESS_EXITED || status.code != 0)
            failed = 1;
        forkless_child_free(children[i]);
    }
    free(children);
    return failed;
}
