/*
 * launch spawn|start [CHILD_FD:PARENT_FD]... PROGRAM: twice, and says how it went. The second time,
 * when all is warm, stands between two calls of getppid for whoever traces this.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forkless.h"

static void launch(const forkless_command *command, bool start) {
    char text[512];
    forkless_child *child;
    forkless_error error;
    forkless_status status = {0};
    syscall(SYS_getppid);
    int rc = (start ? forkless_start : forkless_spawn)(command, &child, &error);
    syscall(SYS_getppid);
    if (rc == 0) {
        printf("%s, ", forkless_mechanism_name(forkless_mechanism(child)));
        rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
        forkless_child_free(child);
    }
    forkless_error_print(&error, text, sizeof text);
    if (rc == 0)
        printf("%s %d\n", status.how == FORKLESS_EXITED ? "exited" : "killed", status.code);
    else
        printf("%s: %s\n", forkless_step_name(error.step), text);
    fflush(stdout);
}

int main(int argc, char **argv) {
    forkless_command *command;
    if (argc < 3 || forkless_command_new(&command, argv[argc - 1]) < 0)
        return 2;
    for (int i = 2; i < argc - 1; i++) {
        int to, from;
        if (sscanf(argv[i], "%d:%d", &to, &from) != 2 || forkless_command_fd(command, to, from) < 0)
            return 2;
    }
    for (int i = 0; i < 2; i++)
        launch(command, strcmp(argv[1], "start") == 0);
    forkless_command_free(command);
    return 0;
}
