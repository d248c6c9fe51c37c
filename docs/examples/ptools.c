/* ptools [-j NUMBER] [-n NUMBER] [-t SECONDS] PID...
 *        [-- TOOL [ARGUMENT...]]:
 * runs a tool such as pstack for each process, -j (10) of them
 * at a time, and shows what each has written within SECONDS (60).
 * The process id is its last argument, or with -n up to so many
 * of them; the tool, if none is given, is eu-stack -p.
 *
 * One batch in a loop of poll(2). Exit status: 0 all tools ended
 * well, 1 one did not, 2 usage, 130 interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { KEPT = 16 << 20 }; /* bytes of each tool's output */

static forkless_command *command;
static forkless_batch *batch;
static double seconds = 60;
static int at_once = 10, per_tool = 1;
static int signals; /* signalfd */
static int failed, interrupted;

/* Of the processes that one tool was given. */
static void head(char **pids, size_t count, const char *how) {
    printf("==>");
    for (size_t i = 0; i < count; i++)
        printf(" %s", pids[i]);
    printf("%s%s <==\n", *how ? ": " : "", how);
    if (*how)
        failed = 1;
}

static void show(char **pids, size_t count,
                 const forkless_result *result) {
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
    head(pids, count, how);
    fwrite(result->output, 1, result->output_size, stdout);
    if (result->output_size > 0 &&
        result->output[result->output_size - 1] != '\n')
        putchar('\n');
}

static void on_answer(forkless_batch *b, forkless_answer *answer,
                      void *all) {
    char **pids = (char **)all + answer->first, sentence[256];
    (void)b;
    switch (answer->answered) {
    case FORKLESS_RAN:
        show(pids, answer->count, &answer->result);
        break;
    case FORKLESS_FAILED:
        forkless_error_print(&answer->error, sentence,
                             sizeof sentence);
        head(pids, answer->count, sentence);
        break;
    case FORKLESS_NOT_STARTED: /* interrupted */
        break;
    }
}

/* The tools are in groups of their own, which Ctrl-C does not
 * reach. */
static void interrupt(void) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        forkless_batch_cancel(batch);
        interrupted = 1;
    }
}

static int left_ms(int64_t deadline) {
    if (deadline == FORKLESS_NEVER)
        return -1;
    int64_t left = deadline - forkless_deadline_in(0);
    return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

/* A tool for each process; returns when the last has ended. */
static int run(char **pids, size_t count) {
    forkless_batch_options options = {
        .at_once = (size_t)at_once,
        .each_ns = (int64_t)(seconds * 1e9),
        .on_answer = on_answer,
        .host = pids,
    };
    forkless_run_options tool = {
        .capture = FORKLESS_CAPTURE_MERGED,
        .limit = KEPT,
    };
    forkless_pack_options pack = {
        .most = (size_t)per_tool,
        .run = &tool,
    };

    errno = -forkless_batch_new(&batch, &options);
    if (errno == 0)
        errno =
            -forkless_pack(batch, command, (const char *const *)pids,
                           count, &pack, NULL);
    if (errno != 0)
        return -1;
    while (forkless_batch_poll(batch) != FORKLESS_ENDED) {
        struct pollfd fds[] = {
            {.fd = signals, .events = POLLIN},
            {.fd = forkless_batch_fd(batch), .events = POLLIN},
        };
        int64_t next = forkless_batch_next_deadline(batch);
        poll(fds, 2, left_ms(next));
        interrupt();
    }
    forkless_batch_free(batch);
    return 0;
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
    signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals < 0 ? -1 : 0;
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

    while ((option = getopt(argc, argv, "+j:n:t:")) != -1) {
        if (option == 'j')
            at_once = (int)number(optarg, digits, 1000);
        else if (option == 'n')
            per_tool = (int)number(optarg, digits, 1e6);
        else if (option == 't')
            seconds = number(optarg, "0123456789.", 1e6);
        else
            return 2;
    }
    for (end = optind; argv[end] && strcmp(argv[end], "--") != 0;)
        number(argv[end++], digits, 1 << 22);
    if (end == optind) {
        fprintf(stderr, "usage: ptools [-j NUMBER] [-n NUMBER] "
                        "[-t SECONDS] PID... "
                        "[-- TOOL [ARGUMENT...]]\n");
        return 2;
    }
    if (set_up(argv + end + (argv[end] != NULL)) < 0 ||
        run(argv + optind, (size_t)(end - optind)) < 0) {
        perror("ptools");
        return 1;
    }
    forkless_command_free(command);
    if (fflush(stdout) != 0) {
        perror("ptools");
        failed = 1;
    }
    return interrupted ? 130 : failed;
}
