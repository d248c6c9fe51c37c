#include "creation.h"

#include <linux/sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

bool creation_is_fork(const struct creation *c) {
    return !(c->flags & CLONE_VM);
}

const char *creation_kind(const struct creation *c) {
    return creation_is_fork(c) ? "fork" : "vfork-class";
}

const char *creation_call(const struct creation *c) {
    static const char *const names[] = {"fork", "vfork", "clone", "clone3"};
    return names[c->how];
}

bool creation_execs(const struct creation *c) {
    return c->then == THEN_EXEC || (c->then == THEN_EXIT && c->exec_error);
}

bool creation_runs_on(const struct creation *c) {
    return c->then == THEN_RUNS_ON ||
           (c->then == THEN_EXIT && c->when - c->asked - c->call >= RUNS_ON_NS);
}

void creation_flags(const struct creation *c, char *out, size_t size) {
    static const struct {
        uint64_t bit;
        const char *name;
    } flags[] = {
        {CLONE_VM, "VM"},
        {CLONE_FS, "FS"},
        {CLONE_FILES, "FILES"},
        {CLONE_SIGHAND, "SIGHAND"},
        {CLONE_PIDFD, "PIDFD"},
        {CLONE_PTRACE, "PTRACE"},
        {CLONE_VFORK, "VFORK"},
        {CLONE_PARENT, "PARENT"},
        {CLONE_NEWNS, "NEWNS"},
        {CLONE_SYSVSEM, "SYSVSEM"},
        {CLONE_SETTLS, "SETTLS"},
        {CLONE_PARENT_SETTID, "PARENT_SETTID"},
        {CLONE_CHILD_CLEARTID, "CHILD_CLEARTID"},
        {CLONE_CHILD_SETTID, "CHILD_SETTID"},
        {CLONE_NEWCGROUP, "NEWCGROUP"},
        {CLONE_NEWUTS, "NEWUTS"},
        {CLONE_NEWIPC, "NEWIPC"},
        {CLONE_NEWUSER, "NEWUSER"},
        {CLONE_NEWPID, "NEWPID"},
        {CLONE_NEWNET, "NEWNET"},
        {CLONE_IO, "IO"},
        {CLONE_CLEAR_SIGHAND, "CLEAR_SIGHAND"},
        {CLONE_INTO_CGROUP, "INTO_CGROUP"},
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof flags / sizeof *flags && used < size; i++)
        if (c->flags & flags[i].bit)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", used ? "|" : "", flags[i].name);
}

static const char *error_name(int error, char *room, size_t size) {
    const char *name = strerrorname_np(error);
    if (name)
        return name;
    snprintf(room, size, "errno %d", error);
    return room;
}

void creation_then(const struct creation *c, char *out, size_t size) {
    char room[32];
    switch (c->then) {
    case THEN_FAILED:
        snprintf(out, size, "failed: %s", error_name(c->error, room, sizeof room));
        return;
    case THEN_EXEC:
        snprintf(out, size, "exec %s", c->path);
        return;
    case THEN_EXIT:
        if (c->exec_error)
            snprintf(out, size, "no exec, %s: %s", error_name(c->exec_error, room, sizeof room),
                     c->path);
        else if (WIFSIGNALED(c->status))
            snprintf(out, size, "signal %d", WTERMSIG(c->status));
        else
            snprintf(out, size, "exit %d", WEXITSTATUS(c->status));
        return;
    case THEN_RUNS_ON:
        snprintf(out, size, "runs on");
        return;
    default:
        snprintf(out, size, "unknown");
    }
}
