/* job COMMAND [ARGUMENT...]: as a shell runs a job, in the
 * foreground of the terminal. */
#include <forkless.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* The caller is in the background now, where this would stop it with
 * SIGTTOU. */
static void take_terminal_back(void) {
    sigset_t ttou, before;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &ttou, &before);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error;
    forkless_status status;
    char sentence[256];

    if (argc < 2 || forkless_command_new(&command, argv[1]) < 0)
        return 2;
    for (int i = 2; i < argc; i++)
        forkless_command_arg(command, argv[i]);
    forkless_command_search(command);
    forkless_command_group(command, 0);
    forkless_command_foreground(command, STDIN_FILENO);
    forkless_command_signal(command, FORKLESS_ALL_SIGNALS,
                            FORKLESS_DEFAULT);

    int rc = forkless_spawn(command, &child, &error);
    forkless_command_free(command);
    if (rc == 0) {
        rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
        forkless_child_free(child);
    }
    /* After a failed spawn too: the child may have taken it. */
    take_terminal_back();
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        fprintf(stderr, "job: %s\n", sentence);
        return 1;
    }
    return status.how == FORKLESS_EXITED ? status.code
                                         : 128 + status.code;
}
