#include "tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "paths.h"
#include "program.h"

static const int64_t BEGIN_NS = INT64_C(20000000000), END_NS = INT64_C(20000000000);
enum { NAP_NS = 2000000 };

static int make_command(forkless_command **command, const char *path, enum traced which, pid_t pid,
                        const struct tracer *t) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    int rc = forkless_command_new(command, path);
    if (rc < 0)
        return rc;
    if (which == TRACED_SPAWNS) {
        forkless_command_arg(*command, "--json");
        forkless_command_arg(*command, "-p");
    }
    forkless_command_arg(*command, number);
    forkless_command_fd(*command, STDOUT_FILENO, t->output);
    forkless_command_fd(*command, STDERR_FILENO, t->errors);
    return 0;
}

static off_t size_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_size : 0;
}

/* What it complained of, without its name; a sentence of our own where it said nothing. */
static void read_complaint(const struct tracer *t, char *why, size_t size) {
    char text[512];
    ssize_t length = pread(t->errors, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *said = strstr(text, ": ");
    snprintf(why, size, "%s", said ? said + 2 : "the tracer ended without a word");
}

static void drop(struct tracer *t) {
    forkless_child_free(t->child);
    if (t->output >= 0)
        close(t->output);
    if (t->errors >= 0)
        close(t->errors);
    *t = (struct tracer){.output = -1, .errors = -1};
}

static void kill_tracer(struct tracer *t) {
    forkless_status status;
    forkless_kill(t->child, SIGKILL, FORKLESS_CHILD);
    forkless_wait(t->child, FORKLESS_NEVER, &status, NULL);
}

/* Until its first line is there: from then on it looks. */
static bool await(struct tracer *t, char *why, size_t size, bool *unsupported) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    forkless_status status;
    for (int64_t until = now_ns() + BEGIN_NS; size_of(t->output) == 0; nanosleep(&nap, NULL)) {
        int rc = forkless_wait(t->child, 0, &status, NULL);
        if (rc == 0) {
            *unsupported = status.how == FORKLESS_EXITED && status.code == UNSUPPORTED;
            read_complaint(t, why, size);
            return false;
        }
        if (rc != -ETIMEDOUT || now_ns() > until) {
            kill_tracer(t);
            snprintf(why, size, "the tracer did not begin");
            return false;
        }
    }
    return true;
}

bool tracer_start(struct tracer *t, enum traced which, pid_t pid, char *why, size_t size,
                  bool *unsupported) {
    char path[4096], sentence[256];
    forkless_command *command = NULL;
    forkless_error error = {0};
    *t = (struct tracer){.output = memfd_create("tracer", MFD_CLOEXEC),
                         .errors = memfd_create("tracer", MFD_CLOEXEC)};
    *unsupported = false;
    int rc = t->output < 0 || t->errors < 0 ? -errno : 0;
    if (rc == 0 && !path_program(which == TRACED_PHASES ? "phases" : "trace", path, sizeof path))
        rc = -ENAMETOOLONG;
    if (rc == 0 && access(path, X_OK) < 0) {
        snprintf(why, size, "this build has no forkless-%s",
                 which == TRACED_PHASES ? "phases" : "trace");
        *unsupported = true;
        drop(t);
        return false;
    }
    if (rc == 0)
        rc = make_command(&command, path, which, pid, t);
    if (rc == 0)
        rc = forkless_spawn(command, &t->child, &error);
    forkless_command_free(command);
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        snprintf(why, size, "the tracer could not be started: %s",
                 error.code ? sentence : strerror(-rc));
    } else if (await(t, why, size, unsupported)) {
        return true;
    }
    drop(t);
    return false;
}

static json_t *read_lines(const struct tracer *t) {
    json_t *lines = json_array(), *line;
    char *text = NULL;
    size_t room = 0;
    int copy = dup(t->output);
    FILE *file = copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? fdopen(copy, "r") : NULL;
    while (file && getline(&text, &room, file) > 0)
        if ((line = json_loads(text, 0, NULL)))
            json_array_append_new(lines, line);
    free(text);
    if (file)
        fclose(file);
    else if (copy >= 0)
        close(copy);
    return lines;
}

json_t *tracer_end(struct tracer *t, char *why, size_t size) {
    forkless_status status;
    json_t *lines = NULL;
    if (!t->child)
        return json_array();
    forkless_kill(t->child, SIGTERM, FORKLESS_CHILD);
    int rc = forkless_wait(t->child, now_ns() + END_NS, &status, NULL);
    if (rc < 0) {
        kill_tracer(t);
        snprintf(why, size, "the tracer did not end: %s", strerror(-rc));
    } else if (status.how != FORKLESS_EXITED || (status.code != OK && status.code != INTERRUPTED)) {
        read_complaint(t, why, size);
    } else {
        lines = read_lines(t);
    }
    drop(t);
    return lines;
}
