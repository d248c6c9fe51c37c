#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What could not be done, as the rest of "cannot ..."; the subject or the index comes behind it. */
static const struct {
    const char *name, *what;
} steps[] = {
    [FORKLESS_STEP_NONE] = {"none", "do nothing"},
    [FORKLESS_STEP_ARGUMENT] = {"argument", "use an argument of this call"},
    [FORKLESS_STEP_SETTER] = {"setter", "use a command after a failed "},
    [FORKLESS_STEP_HELPER] = {"helper", "use the helper "},
    [FORKLESS_STEP_SLOT] = {"slot", "get memory for the child's stack and descriptors"},
    [FORKLESS_STEP_PIPE] = {"pipe", "make a pipe for the child's descriptor "},
    [FORKLESS_STEP_CGROUP] = {"cgroup", "put the child into the cgroup "},
    [FORKLESS_STEP_CLONE] = {"clone", "create the child"},
    [FORKLESS_STEP_HANDLERS] = {"handlers", "reset the child's handler of signal "},
    [FORKLESS_STEP_NAMESPACE] = {"namespace", "enter the namespace of descriptor "},
    [FORKLESS_STEP_UMASK] = {"umask", "set the child's umask"},
    [FORKLESS_STEP_CWD] = {"cwd", "change to the working directory "},
    [FORKLESS_STEP_SESSION] = {"session", "make a session"},
    [FORKLESS_STEP_GROUP] = {"group", "put the child into process group "},
    [FORKLESS_STEP_CLOSE] = {"close", "find the descriptors to close in the child"},
    [FORKLESS_STEP_DESCRIPTOR] = {"descriptor", "make the child's descriptor "},
    [FORKLESS_STEP_FILE] = {"file", "open "},
    [FORKLESS_STEP_MEMORY] = {"memory", "make a file in memory for the child's descriptor "},
    [FORKLESS_STEP_TERMINAL] = {"terminal",
                                "make a controlling terminal of the child's descriptor "},
    [FORKLESS_STEP_FOREGROUND] = {"foreground",
                                  "bring the child to the foreground of its descriptor "},
    [FORKLESS_STEP_OOM_SCORE] = {"oom_score", "set the child's OOM score to "},
    [FORKLESS_STEP_RLIMIT] = {"rlimit", "set the child's limit of resource "},
    [FORKLESS_STEP_GROUPS] = {"groups", "set the child's supplementary groups"},
    [FORKLESS_STEP_GID] = {"gid", "set the child's group"},
    [FORKLESS_STEP_UID] = {"uid", "set the child's user"},
    [FORKLESS_STEP_SECUREBITS] = {"securebits", "set the child's securebits"},
    [FORKLESS_STEP_CAPABILITIES] = {"capabilities", "set the child's capabilities"},
    [FORKLESS_STEP_NO_NEW_PRIVS] = {"no_new_privs", "forbid the child new privileges"},
    [FORKLESS_STEP_DEATH_SIGNAL] = {"death_signal", "bind the child to its parent by signal "},
    [FORKLESS_STEP_IO_PRIORITY] = {"io_priority", "set the child's I/O priority"},
    [FORKLESS_STEP_AFFINITY] = {"affinity", "set the CPUs that the child may run on"},
    [FORKLESS_STEP_NICE] = {"nice", "set the child's nice value"},
    [FORKLESS_STEP_SCHEDULER] = {"scheduler", "give the child scheduling policy "},
    [FORKLESS_STEP_SIGNAL] = {"signal", "set what the child does on signal "},
    [FORKLESS_STEP_MASK] = {"mask", "set the child's signal mask"},
    [FORKLESS_STEP_EXEC] = {"exec", "execute "},
    [FORKLESS_STEP_WAIT] = {"wait", "wait for the child"},
    [FORKLESS_STEP_BATCH] = {"batch", "start it in its batch"},
};

static bool is_step(enum forkless_step step) {
    return (size_t)step < sizeof steps / sizeof *steps;
}

const char *forkless_step_name(enum forkless_step step) {
    return is_step(step) ? steps[step].name : "unknown";
}

int fl_error(forkless_error *error, int code, enum forkless_step step, int index,
             const char *subject) {
    if (!error)
        return code;
    *error = (forkless_error){.code = code, .step = step, .index = index};
    if (!subject)
        return code;
    size_t length = strlen(subject), room = sizeof error->subject - 1;
    if (length <= room)
        memcpy(error->subject, subject, length);
    else
        snprintf(error->subject, sizeof error->subject, "...%s", subject + length - (room - 3));
    return code;
}

int forkless_error_print(const forkless_error *error, char *buffer, size_t size) {
    if (!buffer)
        size = 0;
    if (!error || error->code == 0)
        return snprintf(buffer, size, "no error");
    char index[32] = "";
    if (error->index >= 0 && !error->subject[0])
        snprintf(index, sizeof index, "%s%d",
                 error->step == FORKLESS_STEP_CGROUP ? "of descriptor " : "", error->index);
    const char *why = strerror(-error->code);
    if (error->step == FORKLESS_STEP_WAIT && error->code == -ETIMEDOUT)
        why = "it has not ended by the deadline";
    if (error->step == FORKLESS_STEP_BATCH && error->code == -ETIMEDOUT)
        why = "its deadline has passed";
    bool reason = error->reason[0];
    int length =
        snprintf(buffer, size, "cannot %s%s%s: %s%s%s%s",
                 is_step(error->step) ? steps[error->step].what : "take an unknown step ",
                 error->subject, index, why, reason ? " (" : "", error->reason, reason ? ")" : "");
    /* A program's name may hold anything, and this may go to a terminal. */
    for (char *at = buffer; size > 0 && *at; at++) {
        unsigned char byte = (unsigned char)at[0], next = (unsigned char)at[1];
        bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
        if (c1)
            at[1] = '?';
        if (c1 || byte < ' ' || byte == 127)
            *at = '?';
    }
    return length;
}
