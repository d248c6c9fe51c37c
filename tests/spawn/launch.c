/*
 * launch spawn|start [CHILD_FD:PARENT_FD | ATTRIBUTE]... PROGRAM: twice, and says how it went. The
 * second time, when all is warm, stands between two calls of getppid for whoever traces this. An
 * ATTRIBUTE is a word of set(), or score:N, which takes forkless-exec ($FORKLESS_EXEC).
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

static const struct rlimit no_core = {0, 0};
static cpu_set_t cpus;

/* -1: no such word. */
static int set(forkless_command *c, const char *word) {
#define IS(text) (strcmp(word, text) == 0)
    sched_getaffinity(0, sizeof cpus, &cpus);
    return IS("cwd")            ? forkless_command_cwd(c, "/")
           : IS("cwd_fd")       ? forkless_command_cwd_fd(c, 20)
           : IS("umask")        ? forkless_command_umask(c, 077)
           : IS("group")        ? forkless_command_group(c, 0)
           : IS("session")      ? forkless_command_session(c)
           : IS("inherit_fds")  ? forkless_command_inherit_fds(c)
           : IS("file")         ? forkless_command_file(c, 7, "/dev/null", O_RDONLY, 0)
           : IS("memory")       ? forkless_command_memory(c, 8, "data", 4)
           : IS("empty")        ? forkless_command_memory(c, 8, NULL, 0)
           : IS("pipe")         ? forkless_command_pipe(c, 9, FORKLESS_WRITES)
           : IS("same")         ? forkless_command_same(c, 10, 1)
           : IS("mask")         ? forkless_command_mask(c, NULL)
           : IS("sigpipe")      ? forkless_command_signal(c, SIGPIPE, FORKLESS_INHERIT)
           : IS("sigint")       ? forkless_command_signal(c, SIGINT, FORKLESS_IGNORE)
           : IS("all_signals")  ? forkless_command_signal(c, 0, FORKLESS_DEFAULT)
           : IS("rlimit")       ? forkless_command_rlimit(c, RLIMIT_CORE, &no_core)
           : IS("nice")         ? forkless_command_nice(c, 5)
           : IS("scheduler")    ? forkless_command_scheduler(c, SCHED_BATCH, 0)
           : IS("affinity")     ? forkless_command_affinity(c, &cpus, sizeof cpus)
           : IS("io_priority")  ? forkless_command_io_priority(c, 2, 5)
           : IS("no_new_privs") ? forkless_command_no_new_privs(c)
           : IS("death_signal") ? forkless_command_death_signal(c, SIGTERM)
                                : -1;
}

int main(int argc, char **argv) {
    forkless_command *command;
    if (argc < 3 || forkless_command_new(&command, argv[argc - 1]) < 0)
        return 2;
    for (int i = 2; i < argc - 1; i++) {
        int to, from, score;
        if (sscanf(argv[i], "score:%d", &score) == 1 &&
            forkless_command_oom_score(command, score) == 0 &&
            forkless_helper_path(getenv("FORKLESS_EXEC")) == 0)
            continue;
        bool map = sscanf(argv[i], "%d:%d", &to, &from) == 2;
        if ((map ? forkless_command_fd(command, to, from) : set(command, argv[i])) < 0)
            return 2;
    }
    for (int i = 0; i < 2; i++)
        launch(command, strcmp(argv[1], "start") == 0);
    forkless_command_free(command);
    return 0;
}
