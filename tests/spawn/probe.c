/* The program that gets started: shows what it was given, or ends in a way that is asked for. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

enum { FDS = 1100 };

struct descriptor {
    int flags, status;
    struct stat stat;
};

static struct descriptor open_now[FDS];

static void look_at_descriptors(void) {
    for (int fd = 0; fd < FDS; fd++) {
        open_now[fd].flags = fcntl(fd, F_GETFD);
        if (open_now[fd].flags < 0)
            continue;
        open_now[fd].status = fcntl(fd, F_GETFL);
        fstat(fd, &open_now[fd].stat);
    }
}

/* Past libc, which hides two signals. */
static void print_signals(FILE *out) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action;
    unsigned long blocked = 0, ignored = 0, caught = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    for (int s = 1; s <= 64; s++) {
        syscall(SYS_rt_sigaction, s, NULL, &action, sizeof blocked);
        if (action.handler == SIG_IGN)
            ignored |= 1ul << (s - 1);
        else if (action.handler != SIG_DFL)
            caught |= 1ul << (s - 1);
    }
    fprintf(out, "blocked %lx\nignored %lx\ncaught %lx\n", blocked, ignored, caught);
}

/* Its own number as "own", so that two children can be compared. */
static void print_id(FILE *out, const char *name, pid_t id) {
    if (id == getpid())
        fprintf(out, "%s own\n", name);
    else
        fprintf(out, "%s %d\n", name, id);
}

static void print_scheduling(FILE *out) {
    struct sched_param parameters;
    cpu_set_t cpus;
    sched_getparam(0, &parameters);
    sched_getaffinity(0, sizeof cpus, &cpus);
    fprintf(out, "nice %d\nscheduler %d %d\nio_priority %ld\ncpus", getpriority(PRIO_PROCESS, 0),
            sched_getscheduler(0), parameters.sched_priority, syscall(SYS_ioprio_get, 1, 0));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            fprintf(out, " %u", cpu);
    fprintf(out, "\n");
}

static void print_state(FILE *out) {
    char cwd[4096];
    mode_t mask = umask(0);
    int death_signal = 0;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    fprintf(out, "cwd %s\numask %o\n", getcwd(cwd, sizeof cwd) ? cwd : "?", mask);
    print_id(out, "group", getpgrp());
    print_id(out, "session", getsid(0));
    fprintf(out, "parent %d\nuid %d\ngid %d\nno_new_privs %d\ndeath_signal %d\n", getppid(),
            getuid(), getgid(), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), death_signal);
    for (int fd = 0; fd < 3; fd++)
        if (isatty(fd)) /* -1: not its controlling terminal */
            print_id(out, "foreground", tcgetpgrp(fd));
    for (unsigned r = 0; r < RLIM_NLIMITS; r++) {
        struct rlimit limit;
        getrlimit(r, &limit);
        fprintf(out, "limit %u %ld %ld\n", r, (long)limit.rlim_cur, (long)limit.rlim_max);
    }
    print_scheduling(out);
}

/* A file's lines that begin with one of these names, blanks as single spaces. */
static void print_lines(FILE *out, const char *path, const char *const *names) {
    char line[4096];
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        bool wanted = false;
        for (const char *const *n = names; *n; n++)
            wanted |= strncmp(line, *n, strlen(*n)) == 0;
        for (char *word = wanted ? strtok(line, " \t\n") : NULL; word; word = strtok(NULL, " \t\n"))
            fprintf(out, "%s ", word);
        if (wanted)
            fputc('\n', out);
    }
    if (in)
        fclose(in);
}

static void print_identity(FILE *out) {
    static const char *const ids[] = {"Uid:", "Gid:", "Groups:", "Cap", NULL}, *const all[] = {
                                                                                   "", NULL};
    print_lines(out, "/proc/self/status", ids);
    fprintf(out, "securebits %x\nscore ", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
    print_lines(out, "/proc/self/oom_score_adj", all);
    print_lines(out, "/proc/self/cgroup", all);
}

static int show(const char *path, char **argv) {
    look_at_descriptors();
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!out)
        return 3;
    for (int fd = 0; fd < FDS; fd++)
        if (open_now[fd].flags >= 0)
            fprintf(out, "fd %d %d %d %lu %lu %ld\n", fd, open_now[fd].flags, open_now[fd].status,
                    (unsigned long)open_now[fd].stat.st_dev,
                    (unsigned long)open_now[fd].stat.st_ino, (long)open_now[fd].stat.st_size);
    print_signals(out);
    print_state(out);
    print_identity(out);
    for (; *argv; argv++)
        fprintf(out, "arg %s\n", *argv);
    for (char **e = environ; *e; e++)
        fprintf(out, "env %s\n", *e);
    return fclose(out) == 0 ? 0 : 3;
}

static int cat(void) {
    char buffer[4096];
    ssize_t n;
    while ((n = read(0, buffer, sizeof buffer)) > 0)
        if (write(1, buffer, (size_t)n) != n)
            return 3;
    return n == 0 ? 0 : 3;
}

static int touch(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : 3;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "exit", *how = argc > 2 ? argv[2] : "0";
    if (strcmp(what, "show") == 0)
        return show(how, argv);
    if (strcmp(what, "exit") == 0)
        return atoi(how);
    if (strcmp(what, "raise") == 0)
        return raise(atoi(how));
    if (strcmp(what, "cat") == 0)
        return cat();
    if (strcmp(what, "touch") == 0)
        return touch(how);
    if (strcmp(what, "pause") == 0)
        return pause();
    return 3;
}
