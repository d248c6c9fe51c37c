#include "target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <forkless.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

/* A number of /proc/PID/status; -1: it is not there. */
static long read_status(pid_t pid, const char *key) {
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

int target_find(struct target *t, pid_t pid) {
    *t = (struct target){.pid = pid};
    long process = read_status(pid, "Tgid:");
    if (process >= 0 && process != pid)
        return complain(USAGE, "%d is a thread of process %ld", (int)pid, process);
    t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (t->pidfd < 0)
        return errno == ESRCH ? complain(USAGE, "there is no process %d", (int)pid)
                              : complain(UNSUPPORTED, "process %d cannot be watched: %s", (int)pid,
                                         strerror(errno));
    return OK;
}

void target_descendants(pid_t root, bool (*add)(void *, pid_t), void *argument) {
    struct known {
        pid_t pid;
        bool ours;
    };
    pid_t *ours = malloc(sizeof *ours);
    size_t count = 1, before = 0;
    if (ours)
        ours[0] = root;
    while (ours && before != count) {
        before = count;
        DIR *folder = opendir("/proc");
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            pid_t pid = (pid_t)atoi(entry->d_name);
            if (!isdigit((unsigned char)entry->d_name[0]))
                continue;
            pid_t parent = (pid_t)read_status(pid, "PPid:");
            bool known = false, child = false;
            for (size_t i = 0; i < count; i++) {
                known |= ours[i] == pid;
                child |= ours[i] == parent;
            }
            pid_t *more = child && !known ? realloc(ours, (count + 1) * sizeof *ours) : NULL;
            if (!more)
                continue;
            ours = more;
            ours[count++] = pid;
            if (!add(argument, pid))
                break;
        }
        if (folder)
            closedir(folder);
    }
    free(ours);
}

int target_start(struct target *t, char **arguments, int output) {
    forkless_command *command;
    forkless_child *child;
    forkless_error error = {0};
    char sentence[512];
    *t = (struct target){.pidfd = -1};
    int rc = forkless_command_new(&command, arguments[0]);
    if (rc < 0)
        return complain(INTERNAL, "%s cannot be started: %s", arguments[0], strerror(-rc));
    forkless_command_search(command);
    for (char **argument = arguments + 1; *argument; argument++)
        forkless_command_arg(command, *argument);
    forkless_command_inherit_fds(command);
    if (output != STDOUT_FILENO)
        forkless_command_fd(command, STDOUT_FILENO, output);
    rc = forkless_spawn(command, &child, &error);
    forkless_command_free(command);
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        return complain(USAGE, "%s", sentence);
    }
    t->child = child;
    t->pid = forkless_pid(child);
    t->pidfd = forkless_pidfd(child);
    return t->pidfd >= 0
               ? OK
               : complain(INTERNAL, "%s cannot be watched: %s", arguments[0], strerror(-t->pidfd));
}

int target_status(struct target *t) {
    forkless_status status;
    if (!t->child || forkless_wait(t->child, FORKLESS_NEVER, &status, NULL) < 0)
        return OK;
    return status.how == FORKLESS_EXITED ? status.code : 128 + status.code;
}

void target_free(struct target *t) {
    if (t->child)
        forkless_child_free(t->child);
    else if (t->pidfd >= 0)
        close(t->pidfd);
}
