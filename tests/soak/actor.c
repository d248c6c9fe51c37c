/*
 * What soak starts. usage: soak-actor [NAME=EXPECTED]... -- BEHAVIOUR [ARGUMENT]...
 * First it looks whether it is what it was to be; the number of the first expectation that is not
 * met, and 100, is then its exit status.
 */
#include "actor.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

extern char **environ;

/* ---- expectations ---- */

static long open_descriptors(void) {
    long n = 0;
    struct pollfd fds[128];
    for (int i = 0; i < 128; i++)
        fds[i] = (struct pollfd){.fd = i};
    poll(fds, 128, 0);
    for (int i = 0; i < 128; i++)
        n += !(fds[i].revents & POLLNVAL);
    return n;
}

/* Past libc, which hides two signals. */
static unsigned long signals(bool blocked) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action;
    unsigned long set = 0;
    if (blocked)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &set, sizeof set);
    for (int s = 1; s <= 64 && !blocked; s++)
        if (syscall(SYS_rt_sigaction, s, NULL, &action, sizeof set) == 0 &&
            action.handler != SIG_DFL)
            set |= 1ul << (s - 1);
    return set;
}

static unsigned long affinity(void) {
    unsigned long cpus[16] = {0};
    syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus);
    return cpus[0];
}

static bool in_cgroup(const char *path) {
    char text[4096];
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 2);
    close(fd);
    strcpy(text + (n > 0 ? n : 0), "\n");
    char *at = strstr(text, "0::");
    if (!at)
        return false;
    at[strcspn(at, "\n")] = '\0';
    return strlen(at) >= strlen(path) && strcmp(at + strlen(at) - strlen(path), path) == 0;
}

static bool limit_is(const char *expected) {
    struct rlimit limit;
    char *at;
    int resource = (int)strtol(expected, &at, 10);
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 &&
           limit.rlim_cur == strtoul(at + 1, NULL, 10);
}

static bool descriptor_is(const char *expected) {
    struct stat s;
    char *at;
    int fd = (int)strtol(expected, &at, 10);
    if (fstat(fd, &s) < 0)
        return false;
    dev_t device = strtoul(at + 1, &at, 10);
    return s.st_dev == device && s.st_ino == strtoul(at + 1, NULL, 10);
}

static bool memory_is(const char *expected) {
    char *at, text[4096];
    int fd = (int)strtol(expected, &at, 10);
    ssize_t n = read(fd, text, sizeof text);
    return n == (ssize_t)strlen(at + 1) && memcmp(text, at + 1, (size_t)n) == 0;
}

static bool variable_is(const char *expected) {
    size_t length = strlen(expected);
    for (char **e = environ; *e; e++)
        if (strncmp(*e, expected, length + 1) == 0)
            return true;
    return false;
}

static long variables(void) {
    long n = 0;
    while (environ[n])
        n++;
    return n;
}

static bool cwd_is(const char *expected) {
    char path[4096];
    return getcwd(path, sizeof path) && strcmp(path, expected) == 0;
}

static long umask_now(void) {
    mode_t mask = umask(0);
    umask(mask);
    return (long)mask;
}

static bool met(const char *name, const char *expected) {
    unsigned long number = strtoul(expected, NULL, 0);
    long value = (long)number;
#define IS(is) (strcmp(name, is) == 0)
    if (IS("cwd"))
        return cwd_is(expected);
    if (IS("umask"))
        return umask_now() == value;
    if (IS("group"))
        return (getpgrp() == getpid()) == value;
    if (IS("session"))
        return (getsid(0) == getpid()) == value;
    if (IS("blocked") || IS("ignored"))
        return signals(IS("blocked")) == number;
    if (IS("limit"))
        return limit_is(expected);
    if (IS("nice"))
        return getpriority(PRIO_PROCESS, 0) == strtol(expected, NULL, 10);
    if (IS("scheduler"))
        return sched_getscheduler(0) == value;
    if (IS("io_priority"))
        return syscall(SYS_ioprio_get, 1, 0) == value;
    if (IS("affinity"))
        return affinity() == number;
    if (IS("no_new_privs"))
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == value;
    if (IS("uid"))
        return getuid() == number && geteuid() == number;
    if (IS("gid"))
        return getgid() == number && getegid() == number;
    if (IS("groups"))
        return getgroups(0, NULL) == value;
    if (IS("cgroup"))
        return in_cgroup(expected);
    if (IS("descriptor"))
        return descriptor_is(expected);
    if (IS("memory"))
        return memory_is(expected);
    if (IS("descriptors"))
        return open_descriptors() == value;
    if (IS("variable"))
        return variable_is(expected);
    if (IS("variables"))
        return variables() == value;
#undef IS
    return false;
}

static bool score_is(const char *expected) {
    char text[16] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    bool read_some = read(fd, text, sizeof text - 1) > 0;
    close(fd);
    return read_some && strtol(text, NULL, 10) == strtol(expected, NULL, 10);
}

static bool is_met(char *expectation) {
    char *equals = strchr(expectation, '=');
    if (!equals)
        return false;
    *equals = '\0';
    bool is =
        strcmp(expectation, "score") == 0 ? score_is(equals + 1) : met(expectation, equals + 1);
    *equals = '=';
    return is;
}

/* ---- behaviours ---- */

static void nap(long milliseconds) {
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Not for ever, whatever happens to soak. */
static _Noreturn void live(int code) {
    struct pollfd lease = {.fd = LEASE_FD, .events = POLLIN};
    int rc = poll(&lease, 1, 120000);
    _exit(rc == 0 ? ACTOR_FORGOTTEN : lease.revents & POLLNVAL ? ACTOR_NO_LEASE : code);
}

static void put(int fd, const unsigned char *bytes, size_t size) {
    for (ssize_t n; size > 0; bytes += n, size -= (size_t)n)
        if ((n = write(fd, bytes, size)) < 0)
            _exit(ACTOR_NO_READER);
}

/* To both outputs in turns, in pieces of all sizes. */
static void write_all(uint64_t seed, size_t output, size_t errors) {
    unsigned char buffer[16384];
    size_t at[2] = {0, 0}, end[2] = {output, errors};
    for (unsigned turn = (unsigned)seed; at[0] < end[0] || at[1] < end[1]; turn++) {
        unsigned to = turn & 1;
        size_t size = 1 + (turn * 2654435761u >> 8) % sizeof buffer, left = end[to] - at[to];
        size = size < left ? size : left;
        stream_fill(buffer, size, seed, at[to], to ? STREAM_ERRORS : 0);
        put(to ? 2 : 1, buffer, size);
        at[to] += size;
    }
}

static void copy(void) {
    unsigned char buffer[16384];
    ssize_t n;
    while ((n = read(0, buffer, sizeof buffer)) > 0)
        put(1, buffer, (size_t)n);
    if (n < 0)
        _exit(ACTOR_NO_INPUT);
}

static bool forked(void) {
    pid_t pid = fork();
    if (pid < 0)
        _exit(ACTOR_NO_FORK);
    return pid == 0;
}

static void leave_daemon(void) {
    if (forked()) {
        setsid();
        if (forked())
            live(0);
        _exit(0);
    }
}

static void ignore_all(void) {
    for (int s = 1; s <= SIGRTMAX; s++)
        if (s != SIGCHLD && s != SIGCONT)
            signal(s, SIG_IGN);
}

static void behave(const char *name, const unsigned long *number) {
#define IS(is) (strcmp(name, is) == 0)
    if (IS("nap"))
        nap((long)number[1]);
    else if (IS("write"))
        write_all(number[1], number[2], number[3]);
    else if (IS("copy"))
        copy();
    else if (IS("close")) {
        close(0);
        close(1);
        close(2);
        nap((long)number[1]);
    } else if (IS("stop")) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else would end it */
        raise(SIGSTOP);
    } else if (IS("live"))
        live((int)number[0]);
    else if (IS("stubborn")) {
        ignore_all();
        live((int)number[0]);
    } else if (IS("tree")) {
        if (forked())
            live(0);
        live((int)number[0]);
    } else if (IS("leave")) {
        if (forked())
            live(0);
        write_all(number[1], number[2], number[3]);
    } else if (IS("daemon")) {
        leave_daemon();
        write_all(number[1], number[2], number[3]);
    } else if (IS("endless"))
        write_all(number[1], SIZE_MAX / 2, 0);
    else if (IS("signal"))
        kill(getpid(), (int)number[1]);
    else if (!IS("exit"))
        _exit(ACTOR_USAGE);
#undef IS
}

int main(int argc, char **argv) {
    unsigned long numbers[4] = {0};
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!is_met(argv[i]))
            return ACTOR_MISMATCH + i - 1;
    if (argc - i < 3)
        return ACTOR_USAGE;
    for (int n = 0; n < 4 && i + 2 + n < argc; n++)
        numbers[n] = strtoul(argv[i + 2 + n], NULL, 10);
    behave(argv[i + 1], numbers);
    return (int)numbers[0];
}
