#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <forkless.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ballast.h"
#include "block.h"
#include "clock.h"
#include "lines.h"
#include "tracer.h"

static const int64_t END_NS = INT64_C(10000000000); /* memory has to be given back */

struct conversation {
    struct supervision *s;
    forkless_child *block;
    int to;
    struct lines from;
    struct tracer tracer;
    bool populated; /* it has its ballast */
    bool over;
};

__attribute__((format(printf, 3, 4))) static void give_up(struct conversation *c, const char *state,
                                                          const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!c->s->state) {
        c->s->state = state;
        vsnprintf(c->s->reason, sizeof c->s->reason, format, arguments);
    }
    va_end(arguments);
    c->over = true;
}

/* google-benchmark would take BENCHMARK_FILTER and the like as orders. */
static void set_environment(forkless_command *command) {
    size_t count = 0;
    while (environ[count])
        count++;
    char *kept[count + 1];
    size_t n = 0;
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, "BENCHMARK_", strlen("BENCHMARK_")) != 0)
            kept[n++] = *entry;
    kept[n] = NULL;
    forkless_command_env(command, kept);
}

/* 0, or -errno with *child NULL and every descriptor closed. */
static int start_block(struct conversation *c, forkless_error *error) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(out, O_CLOEXEC) < 0) {
        int rc = -errno;
        close(in[0]);
        close(in[1]);
        return rc;
    }
    forkless_command *command;
    int rc = forkless_command_new(&command, "/proc/self/exe");
    if (rc == 0) {
        forkless_command_arg(command, "--block");
        set_environment(command);
        forkless_command_fd(command, STDIN_FILENO, in[0]);
        forkless_command_fd(command, BLOCK_OUT, out[1]);
        rc = forkless_spawn(command, &c->block, error);
        forkless_command_free(command);
    }
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = (struct lines){.fd = out[0]};
    if (rc < 0) {
        close(in[1]);
        close(out[0]);
    }
    return rc;
}

static void tell(struct conversation *c, const char *line) {
    /* A block that is gone is noticed by the end of its output. */
    if (dprintf(c->to, "%s\n", line) < 0 && errno != EPIPE)
        give_up(c, "failed", "the block could not be told what to do: %s", strerror(errno));
}

/* What the block says of itself is not asked: the kernel is. */
static bool check_memory(struct conversation *c) {
    struct resident found;
    char buffer[sizeof c->s->reason];
    int rc = resident_of(forkless_pid(c->block), c->s->ballast.mappings > 0, &found);
    if (rc < 0) {
        give_up(c, "failed", "the block's memory could not be read: %s", strerror(-rc));
        return false;
    }
    c->s->resident = found.rss + found.hugetlb;
    const char *wrong = ballast_verify(&c->s->ballast, &found, buffer, sizeof buffer);
    if (wrong)
        give_up(c, "failed", "%s", wrong);
    return !wrong;
}

/* Once the block has its ballast, all that it has said until now counts if the ballast is still
 * there. */
static void verify(struct conversation *c) {
    if (c->populated)
        c->s->verified = check_memory(c);
}

static bool begin_trace(struct conversation *c) {
    char why[sizeof c->s->reason];
    bool unsupported;
    enum traced which = (enum traced)c->s->ballast.traced;
    if (which == TRACED_NO ||
        tracer_start(&c->tracer, which, forkless_pid(c->block), why, sizeof why, &unsupported))
        return true;
    give_up(c, unsupported ? "unsupported" : "failed", "%s", why);
    return false;
}

/* What was traced is known to be whole only when the tracer has ended well. */
static void end_trace(struct conversation *c) {
    char why[sizeof c->s->reason];
    c->s->traced = tracer_end(&c->tracer, why, sizeof why);
    if (c->s->traced)
        return;
    give_up(c, "failed", "%s", why);
    c->s->verified = false;
}

static void hear_problem(struct conversation *c, json_t *line) {
    const char *problem = json_string_value(json_object_get(line, "problem"));
    if (json_is_true(json_object_get(line, "memory")))
        give_up(c, "unsupported", "the machine gave no memory for the ballast: %s", problem);
    else
        give_up(c, "failed", "the block: %s", problem);
}

static void hear(struct conversation *c, const char *text) {
    json_t *line = json_loads(text, 0, NULL);
    if (json_object_get(line, "cell")) {
        json_array_append(c->s->cells, line);
    } else if (json_object_get(line, "populated")) {
        c->populated = check_memory(c);
        if (c->populated && begin_trace(c))
            tell(c, "go");
    } else if (json_object_get(line, "done")) {
        verify(c);
        c->over = true;
    } else if (json_object_get(line, "problem")) {
        hear_problem(c, line);
    } else {
        give_up(c, "failed", "the block said something that is no part of a run");
    }
    json_decref(line);
}

static void converse(struct conversation *c) {
    int64_t until = now_ns() + (int64_t)c->s->deadline_s * 1000000000;
    struct pollfd polled[] = {{.fd = c->from.fd, .events = POLLIN},
                              {.fd = c->s->signals, .events = POLLIN}};
    while (!c->over) {
        int64_t left_ms = (until - now_ns() + 999999) / 1000000;
        if (left_ms <= 0) {
            verify(c);
            give_up(c, "timeout", "the block was not done after %u s", c->s->deadline_s);
            return;
        }
        if (poll(polled, 2, (int)left_ms) <= 0)
            continue;
        if (polled[1].revents) {
            verify(c);
            c->s->interrupted = true;
            give_up(c, "failed", "interrupted");
            return;
        }
        bool more = lines_read(&c->from);
        for (char *line; !c->over && (line = lines_next(&c->from)); free(line))
            hear(c, line);
        if (!more && !c->over)
            return;
    }
}

/* With its children: they are in its group, whose number is nobody else's until the block is
 * reaped. */
static void kill_block(struct conversation *c) {
    kill(-forkless_pid(c->block), SIGKILL);
    forkless_kill(c->block, SIGKILL, FORKLESS_CHILD);
}

/* A block that has said all ends when it hears nothing more. */
static void end_block(struct conversation *c) {
    bool said_all = c->over && !c->s->state;
    close(c->to);
    if (!said_all)
        kill_block(c);
    forkless_status status;
    forkless_error error;
    int rc = forkless_wait(c->block, now_ns() + END_NS, &status, &error);
    if (rc == -ETIMEDOUT) {
        give_up(c, "timeout", "the block did not end");
        kill_block(c);
        rc = forkless_wait(c->block, FORKLESS_NEVER, &status, &error);
    }
    if (rc < 0)
        give_up(c, "failed", "the block could not be waited for: %s", strerror(-rc));
    else if (status.how == FORKLESS_KILLED)
        give_up(c, "failed", "the block was killed by signal %d (%s)", status.code,
                strsignal(status.code));
    else if (status.code != 0 || !said_all)
        give_up(c, "failed", "the block ended early, with status %d", status.code);
    forkless_child_free(c->block);
    close(c->from.fd);
    free(c->from.bytes);
}

void supervise(struct supervision *s) {
    struct conversation c = {.s = s};
    forkless_error error = {0};
    char sentence[256];
    s->cells = json_array();
    int rc = start_block(&c, &error);
    if (rc < 0) {
        forkless_error_print(&error, sentence, sizeof sentence);
        give_up(&c, "failed", "the block could not be started: %s",
                error.code ? sentence : strerror(-rc));
        return;
    }
    char *order = json_dumps(s->order, JSON_COMPACT);
    tell(&c, order ? order : "");
    free(order);
    converse(&c);
    end_trace(&c);
    end_block(&c);
}
