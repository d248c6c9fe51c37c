/* sort | uniq -c, with lines from memory: two commands that run at
 * once. */
#include <forkless.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static forkless_error error;

static int fail(void) {
    char sentence[256];
    forkless_error_print(&error, sentence, sizeof sentence);
    fprintf(stderr, "pipeline: %s\n", sentence);
    return 1;
}

/* Its exit status; 1 also for what did not end by itself. */
static int end(forkless_child *child) {
    forkless_status status;
    int rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
    forkless_child_free(child);
    if (rc < 0)
        return fail();
    return status.how == FORKLESS_EXITED ? status.code : 1;
}

int main(void) {
    static const char lines[] =
        "pear\napple\npear\nfig\napple\npear\n";
    forkless_command *command;
    forkless_child *sort, *uniq;

    if (forkless_command_new(&command, "sort") < 0)
        return 1;
    forkless_command_search(command);
    forkless_command_memory(command, 0, lines, strlen(lines));
    forkless_command_pipe(command, 1, FORKLESS_WRITES);
    int rc = forkless_start(command, &sort, &error);
    forkless_command_free(command);
    if (rc < 0)
        return fail();

    int between = forkless_child_pipe(sort, 1);
    if (forkless_command_new(&command, "uniq") < 0)
        return 1;
    forkless_command_search(command);
    forkless_command_arg(command, "-c");
    forkless_command_fd(command, 0, between);
    rc = forkless_start(command, &uniq, &error);
    forkless_command_free(command);
    close(between); /* or uniq's death would not end sort */
    int failed = rc < 0 ? fail() : end(uniq);
    return end(sort) || failed;
}
