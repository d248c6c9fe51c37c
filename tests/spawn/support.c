#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

launcher *const launchers[2] = {forkless_spawn, forkless_start};

/* ---- tests and checks ---- */

enum { SKIPPED = 77, COMPLAINTS_FD = 590 };

static int complaints = 2; /* where they go, whatever a test does to descriptor 2 */
static size_t skipped;
static bool check_leaks = true;

void __lsan_do_leak_check(void) __attribute__((weak));

_Noreturn void check_failed(const char *file, int line, const char *what) {
    dprintf(complaints, "%s:%d: %s (errno %d)\n", file, line, what, errno);
    _exit(1);
}

void check_equal(const char *file, int line, const char *what, long is, long want) {
    if (is == want)
        return;
    dprintf(complaints, "%s:%d: %s is %ld, not %ld\n", file, line, what, is, want);
    _exit(1);
}

_Noreturn void skip_test(const char *why) {
    dprintf(complaints, "skipped: %s\n", why);
    _exit(SKIPPED);
}

/* Read once: a test may change the environment meanwhile. */
static bool long_run;

static void read_environment(void) {
    const char *wish = getenv("FORKLESS_TEST_LONG");
    long_run = wish && strcmp(wish, "1") == 0;
}

int count(int full) {
    return long_run ? full : (full + 19) / 20;
}

bool sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

void no_leak_check(void) {
    check_leaks = false;
}

static _Noreturn void isolated(void (*body)(void)) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s <= SIGRTMAX; s++) /* cmocka's handlers, and what nohup ignores */
        signal(s, SIG_DFL);
    setpgid(0, 0);
    complaints = fcntl(2, F_DUPFD_CLOEXEC, COMPLAINTS_FD);
    body();
    if (check_leaks && __lsan_do_leak_check)
        __lsan_do_leak_check();
    _exit(0);
}

void run_isolated(void (*body)(void)) {
    read_environment();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        isolated(body);
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    assert_true(pidfd >= 0);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    bool hangs = poll(&ended, 1, long_run ? 600000 : 25000) == 0;
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL); /* what it left, while its number is its own */
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(pidfd);
    if (hangs)
        fail_msg("hangs");
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        skipped++;
        skip();
    }
    assert_int_equal(status, 0);
}

int finish(int failed, size_t tests) {
    return failed == 0 && skipped == tests ? SKIPPED : failed;
}

/* ---- commands and children ---- */

static forkless_command *with_arguments(const char *program, const char *argument, va_list more) {
    forkless_command *c;
    CHECK_EQ(forkless_command_new(&c, program), 0);
    for (; argument; argument = va_arg(more, const char *))
        CHECK_EQ(forkless_command_arg(c, argument), 0);
    return c;
}

forkless_command *command(const char *program, ...) {
    va_list more;
    va_start(more, program);
    forkless_command *c = with_arguments(program, va_arg(more, const char *), more);
    va_end(more);
    return c;
}

forkless_command *probe(const char *argument, ...) {
    va_list more;
    va_start(more, argument);
    forkless_command *c = with_arguments(PROBE, argument, more);
    va_end(more);
    return c;
}

forkless_child *launched(launcher *launch, const forkless_command *c) {
    forkless_child *child;
    forkless_error error;
    int rc = launch(c, &child, &error);
    if (rc < 0) {
        char text[512];
        forkless_error_print(&error, text, sizeof text);
        check_failed(__FILE__, __LINE__, text);
    }
    CHECK(child && forkless_pid(child) > 0);
    return child;
}

void ends(forkless_child *child, enum forkless_how how, int code) {
    forkless_status status;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, how);
    CHECK_EQ(status.code, code);
    forkless_child_free(child);
}

bool fails(launcher *launch, const forkless_command *c, int code, enum forkless_step step,
           int index) {
    forkless_child *child;
    forkless_error error;
    bool at_once = launch(c, &child, &error) != 0;
    if (at_once)
        CHECK(child == NULL);
    else
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, &error), code);
    forkless_child_free(child);
    CHECK_EQ(error.code, code);
    CHECK_EQ(error.step, step);
    CHECK_EQ(error.index, index);
    return at_once;
}

void with_helper(void) {
    CHECK_EQ(forkless_helper_path(FORKLESS_EXEC), 0);
}

int64_t from_now(int milliseconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((int64_t)now.tv_sec * 1000 + milliseconds) * 1000000 + now.tv_nsec;
}

void nap(int microseconds) {
    struct timespec t = {.tv_sec = microseconds / 1000000,
                         .tv_nsec = microseconds % 1000000 * 1000};
    nanosleep(&t, NULL);
}

void check_no_child(void) {
    siginfo_t info;
    errno = 0;
    CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL), -1);
    CHECK_EQ(errno, ECHILD);
}

pthread_t thread(void *(*body)(void *), void *argument) {
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, body, argument), 0);
    return t;
}

pid_t forked(void) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    return pid;
}

void in_process(void (*body)(int), int argument) {
    pid_t pid = forked();
    if (pid == 0) {
        body(argument);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        _exit(SKIPPED);
    CHECK_EQ(status, 0);
}

/* ---- what the probe saw ---- */

struct show show_new(void) {
    int low = memfd_create("shown", MFD_CLOEXEC);
    struct show s = {.memory = fcntl(low, F_DUPFD_CLOEXEC, SHOW_FD)};
    CHECK(s.memory >= SHOW_FD);
    close(low);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), s.memory);
    s.command = probe("show", path, NULL);
    return s;
}

struct show show_by_stdout(void) {
    struct show s = show_new();
    forkless_command_free(s.command);
    s.command = probe("show", "-", NULL);
    CHECK_EQ(forkless_command_fd(s.command, 1, s.memory), 0);
    return s;
}

static unsigned long mask_after(const char *text, const char *name) {
    const char *at = strstr(text, name);
    CHECK(at);
    return strtoul(at + strlen(name), NULL, 16);
}

void show_read(struct show *s, struct seen *seen) {
    ssize_t size = pread(s->memory, seen->text, sizeof seen->text - 1, 0);
    CHECK(size > 0);
    seen->text[size] = '\0';
    seen->count = 0;
    for (const char *at = seen->text; strncmp(at, "fd ", 3) == 0; at = strchr(at, '\n') + 1) {
        struct seen_fd *f = &seen->fds[seen->count++];
        CHECK_EQ(sscanf(at, "fd %d %d %d %lu %lu %ld", &f->fd, &f->flags, &f->status, &f->device,
                        &f->inode, &f->size),
                 6);
    }
    seen->blocked = mask_after(seen->text, "blocked "); /* the first line, where none is open */
    seen->ignored = mask_after(seen->text, "\nignored ");
    seen->caught = mask_after(seen->text, "\ncaught ");
    forkless_command_free(s->command);
    close(s->memory);
}

void show_run(struct show *s, launcher *launch, struct seen *seen) {
    ends(launched(launch, s->command), FORKLESS_EXITED, 0);
    show_read(s, seen);
}

const struct seen_fd *seen_fd(const struct seen *seen, int fd) {
    for (int i = 0; i < seen->count; i++)
        if (seen->fds[i].fd == fd)
            return &seen->fds[i];
    return NULL;
}

bool seen_line(const struct seen *seen, const char *line) {
    size_t length = strlen(line);
    for (const char *at = seen->text; at && *at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, line, length) == 0 && at[length] == '\n')
            return true;
    return false;
}

/* ---- what a start may not change ---- */

static void read_file(const char *path, char *buffer, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, buffer + used, size - 1 - used)) > 0)
        used += (size_t)n;
    CHECK_EQ(n, 0);
    buffer[used] = '\0';
    close(fd);
}

/* Allocates nothing: a test may refuse mappings. */
__attribute__((format(printf, 2, 3))) static void add(struct snapshot *s, const char *format, ...) {
    size_t used = strlen(s->state), left = sizeof s->state - used;
    va_list arguments;
    va_start(arguments, format);
    CHECK(vsnprintf(s->state + used, left, format, arguments) < (int)left);
    va_end(arguments);
}

static void print_line(struct snapshot *s, const char *text, const char *name) {
    const char *at = strstr(text, name);
    CHECK(at);
    add(s, "%.*s\n", (int)strcspn(at, "\n"), at);
}

static void print_scheduling(struct snapshot *s) {
    struct sched_param parameters;
    CHECK_EQ(sched_getparam(0, &parameters), 0);
    add(s, "nice %d\nscheduler %d %d\nio_priority %ld\n", getpriority(PRIO_PROCESS, 0),
        sched_getscheduler(0), parameters.sched_priority, syscall(SYS_ioprio_get, 1, 0));
}

static void print_state(struct snapshot *s) {
    char status[4096], score[16], cwd[512];
    int death_signal;
    read_file("/proc/thread-self/status", status, sizeof status);
    read_file("/proc/self/oom_score_adj", score, sizeof score);
    print_line(s, status, "Umask:");
    print_line(s, status, "Cpus_allowed:");
    CHECK_EQ(prctl(PR_GET_PDEATHSIG, &death_signal), 0);
    add(s, "cwd %s\ngroup %d\nsession %d\ndumpable %d\noom_score %sdeath_signal %d\n",
        getcwd(cwd, sizeof cwd), getpgrp(), getsid(0), prctl(PR_GET_DUMPABLE), score, death_signal);
    print_scheduling(s);
    for (int r = 0; r < (int)RLIM_NLIMITS; r++) {
        struct rlimit limit;
        CHECK_EQ(syscall(SYS_getrlimit, r, &limit), 0); /* a test may refuse prlimit64 */
        add(s, "limit %d %lx %lx\n", r, limit.rlim_cur, limit.rlim_max);
    }
    for (int n = 1; n <= SIGRTMAX; n++) {
        struct sigaction action;
        if (sigaction(n, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            add(s, "signal %d %p %x\n", n, (void *)action.sa_handler, action.sa_flags);
    }
}

void snapshot_take(struct snapshot *s) {
    memset(s, 0, sizeof *s);
    print_state(s);
    for (int fd = 0; fd < (int)sizeof s->fds; fd++)
        s->fds[fd] = (signed char)fcntl(fd, F_GETFD);
    char status[4096];
    read_file("/proc/thread-self/status", status, sizeof status);
    const char *from = strstr(status, "SigPnd:"), *to = strstr(status, "CapInh:");
    CHECK(from && to);
    memcpy(s->signals, from, (size_t)(to - from));
    if (!sanitized())
        read_file("/proc/self/maps", s->maps, sizeof s->maps);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &s->cancel_state);
    pthread_setcancelstate(s->cancel_state, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &s->cancel_type);
    pthread_setcanceltype(s->cancel_type, NULL);
}

void snapshot_check(const struct snapshot *before) {
    static struct snapshot after;
    snapshot_take(&after);
    for (int fd = 0; fd < (int)sizeof after.fds; fd++)
        CHECK_EQ(after.fds[fd], before->fds[fd]);
    CHECK(strcmp(after.signals, before->signals) == 0);
    if (strcmp(after.state, before->state) != 0)
        dprintf(complaints, "before:\n%s\nafter:\n%s\n", before->state, after.state);
    CHECK(strcmp(after.state, before->state) == 0);
    if (strcmp(after.maps, before->maps) != 0)
        dprintf(complaints, "before:\n%s\nafter:\n%s\n", before->maps, after.maps);
    CHECK(strcmp(after.maps, before->maps) == 0);
    CHECK_EQ(after.cancel_state, before->cancel_state);
    CHECK_EQ(after.cancel_type, before->cancel_type);
    check_no_child();
}
