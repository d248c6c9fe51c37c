/*
 * What this host can start at all: raw vfork loops in small processes, as many as `at_once` says,
 * that share the commands. `limit_pinned`: each on one CPU, in turn.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "case.h"
#include "small.h"
#include "small/looper.h"

enum { LOOPERS_MAX = 64 };

static struct small loopers[LOOPERS_MAX];
static struct looper_answer answers[LOOPERS_MAX];
static unsigned count, asked, given, answered;

static void cleanup(void) {
    while (count > 0)
        small_end(&loopers[--count]);
}

/* The nth CPU, in turn, of those that the caller may use. */
static int choose_cpu(unsigned n, cpu_set_t *one) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) < 0)
        return -errno;
    n %= (unsigned)CPU_COUNT(&all);
    CPU_ZERO(one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && n-- == 0)
            CPU_SET(cpu, one);
    return 0;
}

static int start_all(const struct request *request, bool pinned) {
    int rc = request->children <= LOOPERS_MAX ? 0 : -E2BIG;
    for (count = 0; rc == 0 && count < request->children; count += rc == 0) {
        cpu_set_t one;
        if (pinned)
            rc = choose_cpu(count, &one);
        if (rc == 0)
            rc = small_start(&loopers[count], request->programs, "looper", request->target,
                             pinned ? &one : NULL);
        answers[count].cpu = 0;
    }
    if (rc < 0)
        cleanup();
    return rc;
}

static int prepare(const struct request *request) {
    return start_all(request, false);
}

static int prepare_pinned(const struct request *request) {
    return start_all(request, true);
}

static int begin(unsigned commands, unsigned at_once) {
    (void)at_once;
    asked = commands;
    given = answered = 0;
    return 0;
}

/* All at once, when the last one is there. */
static int give(void) {
    if (++given < asked)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t part = asked / count + (i < asked % count);
        if (send(loopers[i].connection, &part, sizeof part, MSG_NOSIGNAL) < 0)
            return -errno;
    }
    return 0;
}

static int wait_one(void) {
    ssize_t size = recv(loopers[answered].connection, &answers[answered], sizeof *answers, 0);
    return size < 0 ? -errno : size == sizeof *answers ? 0 : -EPIPE;
}

static int collect(unsigned *ended, unsigned *wrong) {
    uint32_t part = asked / count + (answered < asked % count);
    *ended += part;
    *wrong += part - answers[answered].ended;
    answered++;
    return 0;
}

static int64_t elsewhere(void) {
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += answers[i].cpu;
    return sum;
}

static const struct many many = {begin, give, wait_one, collect, NULL};

const struct strategy strategy_limit = {
    .name = "limit",
    .most = LOOPERS_MAX,
    .loops = true,
    .many = &many,
    .prepare = prepare,
    .elsewhere = elsewhere,
    .cleanup = cleanup,
};

const struct strategy strategy_limit_pinned = {
    .name = "limit_pinned",
    .most = LOOPERS_MAX,
    .loops = true,
    .many = &many,
    .prepare = prepare_pinned,
    .elsewhere = elsewhere,
    .cleanup = cleanup,
};
