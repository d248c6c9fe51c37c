/* ptools [-j NUMBER] [-t SECONDS] PID... [-- TOOL [ARGUMENT...]]:
 * runs a tool such as pstack for each process, NUMBER (10) of them
 * at a time, and shows what each has written within SECONDS (60).
 * The process id is its last argument; the tool, if none is given,
 * is eu-stack -p.
 *
 * One epoll loop, no thread. Exit status: 0 all tools ended well, 1
 * one did not, 2 usage, 130 interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { KEPT = 16 << 20 }; /* bytes of each tool's output */

struct tool {
    const char *pid;
    forkless_child *child; /* NULL: this place is free */
};

static forkless_command *command;
static double seconds = 60;
static struct tool *tools;
static int places = 10;
static int loop, signals; /* epoll, signalfd */
static int failed, interrupted;

static void head(const char *pid, const char *how) {
    printf("==> %s%s%s <==\n", pid, *how ? ": " : "", how);
    if (*how)
        failed = 1;
}

static void head_error(const char *pid,
                       const forkless_error *error) {
    char sentence[256];
    forkless_error_print(error, sentence, sizeof sentence);
    head(pid, sentence);
}

static int watch(int fd) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
}

static void start(struct tool *tool, const char *pid) {
    const char *arguments[] = {pid, NULL};
    forkless_override override = {.arguments = arguments};
    forkless_run_options options = {
        .capture = FORKLESS_CAPTURE_MERGED,
        .limit = KEPT,
        .deadline_ns =
            forkless_deadline_in((int64_t)(seconds * 1e9)),
        .override = &override,
    };
    forkless_error error;

    tool->pid = pid;
    if (forkless_run_start(command, &options, &tool->child, &error) <
        0) {
        head_error(pid, &error);
        return;
    }
    /* Where there are no pidfds it is negative, and
     * forkless_next_deadline() comes often. */
    int fd = forkless_poll_fd(tool->child);
    if (fd < 0 || watch(fd) == 0)
        return;
    head(pid, strerror(errno));
    forkless_kill(tool->child, SIGKILL, FORKLESS_GROUP);
    forkless_child_free(tool->child);
    tool->child = NULL;
}

static void show(const char *pid, const forkless_result *result) {
    char how[128] = "";
    if (result->timed_out)
        snprintf(how, sizeof how, "took more than %g s", seconds);
    else if (result->status.how == FORKLESS_KILLED)
        snprintf(how, sizeof how, "signal %d", result->status.code);
    else if (result->status.how == FORKLESS_UNKNOWN)
        snprintf(how, sizeof how, "somebody else waited for it");
    else if (result->status.code != 0)
        snprintf(how, sizeof how, "status %d", result->status.code);
    else if (result->output_dropped > 0)
        snprintf(how, sizeof how, "its first %zu bytes",
                 result->output_size);
    head(pid, how);
    fwrite(result->output, 1, result->output_size, stdout);
    if (result->output_size > 0 &&
        result->output[result->output_size - 1] != '\n')
        putchar('\n');
}

static void finish(struct tool *tool) {
    forkless_result result = {0};
    forkless_error error;

    /* If its exec failed this is why. */
    if (forkless_run_result(tool->child, &result, &error) < 0)
        head_error(tool->pid, &error);
    else
        show(tool->pid, &result);
    forkless_result_free(&result);
    /* A child that has not exec'd yet has a copy of it: the loop
     * would not forget it when it is closed. */
    int fd = forkless_poll_fd(tool->child);
    if (fd >= 0)
        epoll_ctl(loop, EPOLL_CTL_DEL, fd, NULL);
    forkless_child_free(tool->child);
    tool->child = NULL;
}

/* The tools are in groups of their own, which Ctrl-C does not
 * reach. */
static void interrupt(void) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        for (int i = 0; i < places; i++)
            if (tools[i].child)
                forkless_kill(tools[i].child,
                              interrupted ? SIGKILL : SIGTERM,
                              FORKLESS_GROUP);
        interrupted = 1;
    }
}

static int left_ms(int64_t deadline) {
    if (deadline == FORKLESS_NEVER)
        return -1;
    int64_t left = deadline - forkless_deadline_in(0);
    return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

/* Waits until there is something to do, and does it. */
static void turn(void) {
    struct epoll_event event;
    int64_t next = FORKLESS_NEVER;

    for (int i = 0; i < places; i++) {
        if (!tools[i].child)
            continue;
        int64_t deadline = forkless_next_deadline(tools[i].child);
        if (deadline < next)
            next = deadline;
    }
    epoll_wait(loop, &event, 1, left_ms(next));
    interrupt();
    for (int i = 0; i < places; i++) {
        if (!tools[i].child)
            continue;
        int state = forkless_poll(tools[i].child);
        if (state != FORKLESS_PENDING && state != FORKLESS_RUNNING)
            finish(&tools[i]);
    }
}

/* A tool for each process; returns when the last has ended. */
static void run(char **pids, int count) {
    int next = 0, running;
    do {
        running = 0;
        for (int i = 0; i < places; i++) {
            while (!tools[i].child && next < count && !interrupted)
                start(&tools[i], pids[next++]);
            running += tools[i].child != NULL;
        }
        if (running > 0)
            turn();
    } while (running > 0);
}

static int set_up(char **tool) {
    static char *eu_stack[] = {"eu-stack", "-p", NULL};
    sigset_t mask;

    if (!*tool)
        tool = eu_stack;
    errno = -forkless_command_new(&command, *tool);
    if (errno != 0)
        return -1;
    while (*++tool)
        forkless_command_arg(command, *tool);
    forkless_command_search(command);
    forkless_command_file(command, 0, "/dev/null", O_RDONLY, 0);

    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    loop = epoll_create1(EPOLL_CLOEXEC);
    signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    tools = calloc((size_t)places, sizeof *tools);
    return loop < 0 || signals < 0 || !tools ? -1 : watch(signals);
}

/* Of these characters, and in its range. */
static double number(const char *text, const char *characters,
                     double most) {
    char *end;
    double value = strtod(text, &end);
    if (*end == '\0' && strspn(text, characters) == strlen(text) &&
        value > 0 && value <= most)
        return value;
    fprintf(stderr, "ptools: '%s' is not a number up to %g\n", text,
            most);
    exit(2);
}

int main(int argc, char **argv) {
    static const char digits[] = "0123456789";
    int option, end;

    while ((option = getopt(argc, argv, "+j:t:")) != -1) {
        if (option == 'j')
            places = (int)number(optarg, digits, 1000);
        else if (option == 't')
            seconds = number(optarg, "0123456789.", 1e6);
        else
            return 2;
    }
    for (end = optind; argv[end] && strcmp(argv[end], "--") != 0;)
        number(argv[end++], digits, 1 << 22);
    if (end == optind) {
        fprintf(stderr, "usage: ptools [-j NUMBER] [-t SECONDS] "
                        "PID... [-- TOOL [ARGUMENT...]]\n");
        return 2;
    }
    if (set_up(argv + end + (argv[end] != NULL)) < 0) {
        perror("ptools");
        return 1;
    }
    run(argv + optind, end - optind);
    forkless_command_free(command);
    free(tools);
    if (fflush(stdout) != 0) {
        perror("ptools");
        failed = 1;
    }
    return interrupted ? 130 : failed;
}
