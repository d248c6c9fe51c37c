#include "gnuplot.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 20000, MOST_WORDS = 160 };

extern char **environ;

struct child {
    pid_t pid;
    int script;
    int talk;
    int page; /* the end of the pipe that we read */
};

/* Where a standard stream is closed its number would be taken, and then moved over. */
static int above_standard(int file) {
    if (file < 0 || file > STDERR_FILENO)
        return file;
    int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(file);
    return above;
}

/* A file without a name whose text is read from its start. */
static int file_of(const char *text) {
    int file = above_standard(memfd_create("gnuplot", MFD_CLOEXEC));
    size_t length = strlen(text), at = 0;
    while (file >= 0 && at < length) {
        ssize_t put = pwrite(file, text + at, length - at, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            close(file);
            return -1;
        }
        at += (size_t)put;
    }
    return file;
}

/* Its standard streams are the script, the page and its talk. SIGPIPE, which we ignore, ends it. */
static int start(struct child *child) {
    int ends[2];
    if (child->script < 0 || child->talk < 0)
        return ENOMEM;
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    ends[0] = above_standard(ends[0]);
    ends[1] = above_standard(ends[1]);
    if (ends[0] < 0 || ends[1] < 0) {
        close(ends[0]);
        close(ends[1]);
        return EMFILE;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->script, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, child->talk, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    char *arguments[] = {"gnuplot", "-d", "-", NULL};
    int error = posix_spawnp(&child->pid, "gnuplot", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child->page = ends[0];
    if (error)
        close(ends[0]);
    return error;
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* False when the child did not close its end in time. */
static bool copy_page(int from, FILE *to) {
    char buffer[1 << 16];
    int64_t deadline = now_ms() + DEADLINE_MS;
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int64_t left = deadline - now_ms();
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        ssize_t got = read(from, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        fwrite(buffer, 1, (size_t)got, to);
    }
}

/* The first words of what gnuplot said. */
static char *words_of(int talk) {
    char words[MOST_WORDS + 1] = "";
    ssize_t got = pread(talk, words, MOST_WORDS, 0);
    words[got > 0 ? got : 0] = '\0';
    for (char *c = words; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    return sentence("%s%s", *words ? ": " : "", words + strspn(words, " "));
}

/* NULL when all is well. */
static char *judge(const struct child *child, bool in_time, size_t length) {
    int status;
    if (!in_time)
        kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!in_time)
        return sentence("gnuplot took more than %d s", DEADLINE_MS / 1000);
    if (WIFSIGNALED(status))
        return sentence("gnuplot was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == 0 && length > 0)
        return NULL;
    char *words = words_of(child->talk);
    char *why = length ? sentence("gnuplot ended with status %d%s", WEXITSTATUS(status), words)
                       : sentence("gnuplot printed nothing%s", words);
    free(words);
    return why;
}

char *gnuplot_run(const char *script, char **why) {
    struct child child = {.script = file_of(script), .talk = file_of("")};
    int error = start(&child);
    char *page = NULL;
    if (error) {
        *why = error == ENOENT ? sentence("gnuplot is not installed")
                               : sentence("gnuplot cannot be started: %s", strerror(error));
    } else {
        size_t length;
        FILE *text = must(open_memstream(&page, &length));
        bool in_time = copy_page(child.page, text);
        fclose(text);
        close(child.page);
        must(page);
        *why = judge(&child, in_time, length);
    }
    if (child.script >= 0)
        close(child.script);
    if (child.talk >= 0)
        close(child.talk);
    if (!*why)
        return page;
    free(page);
    return NULL;
}
