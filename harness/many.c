#include "many.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "clock.h"

struct held {
    int64_t all, longest;
};

static void hold(struct held *held, int64_t since) {
    int64_t ns = now_ns() - since;
    held->all += ns;
    if (ns > held->longest)
        held->longest = ns;
}

static bool check(struct turn *turn, int rc, const char *what) {
    if (rc < 0)
        turn_fail(turn, rc, "%s: %s", what, strerror(-rc));
    return rc >= 0;
}

static pid_t pid_of(const struct strategy *strategy, const struct born *born) {
    return strategy->pid ? strategy->pid(born) : born->pid;
}

/* Which of them has ended, or -1. */
static int wait_any(const struct turn *turn, unsigned running) {
    siginfo_t info;
    int rc;
    while ((rc = waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | (int)__WALL)) < 0 && errno == EINTR)
        continue;
    for (unsigned i = 0; rc == 0 && i < running; i++)
        if (pid_of(turn->strategy, &turn->born[i]) == info.si_pid)
            return (int)i;
    return -1;
}

static void finish_one(struct turn *turn, unsigned i, struct held *held) {
    struct ended ended = {0};
    int64_t since = now_ns();
    int rc = turn->strategy->finish(&turn->born[i], &ended);
    hold(held, since);
    if (check(turn, rc, "a child could not be executed or waited for"))
        turn_check(turn, &ended);
}

/* One after the other, by body and finish. After a failure no more are made, but all are reaped. */
static void take_each(struct turn *turn, unsigned commands, unsigned at_once, struct held *held) {
    unsigned made = 0, running = 0;
    for (;;) {
        while (made < commands && running < at_once && !turn->problem[0]) {
            int64_t since = now_ns();
            int rc = turn->strategy->body(&turn->born[running]);
            hold(held, since);
            if (check(turn, rc, "a child could not be started")) {
                made++;
                running++;
            }
        }
        if (running == 0)
            return;
        int ended = wait_any(turn, running);
        if (ended < 0) {
            turn_fail(turn, 0, "a process that is no target ended");
            ended = 0;
        }
        finish_one(turn, (unsigned)ended, held);
        turn->born[ended] = turn->born[--running];
    }
}

static void collect(struct turn *turn, unsigned commands, struct held *held) {
    const struct many *many = turn->strategy->many;
    unsigned ended = 0, wrong = 0;
    while (ended < commands && !turn->problem[0]) {
        if (!check(turn, many->wait(), "no child could be waited for"))
            return;
        int64_t since = now_ns();
        int rc = many->collect(&ended, &wrong);
        hold(held, since);
        check(turn, rc, "a command could not be executed or waited for");
    }
    if (wrong > 0 && !turn->problem[0])
        turn_fail(turn, 0, "%u of %u targets did not end as they should", wrong, commands);
}

static void take_many(struct turn *turn, unsigned commands, unsigned at_once, struct held *held) {
    const struct many *many = turn->strategy->many;
    int64_t since = now_ns();
    int rc = many->begin(commands, at_once);
    hold(held, since);
    if (!check(turn, rc, "the batch could not be made"))
        return;
    for (unsigned i = 0; i < commands && rc == 0; i++) {
        since = now_ns();
        rc = many->give();
        hold(held, since);
    }
    if (check(turn, rc, "a command could not be handed over"))
        collect(turn, commands, held);
    since = now_ns();
    if (many->end)
        many->end();
    hold(held, since);
}

static int64_t usage_ns(const struct strategy *strategy) {
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    int64_t us = ((int64_t)children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000 +
                 children.ru_utime.tv_usec + children.ru_stime.tv_usec;
    return us * 1000 + clock_ns(CLOCK_THREAD_CPUTIME_ID) +
           (strategy->elsewhere ? strategy->elsewhere() : 0);
}

int many_take(struct sampler *s, struct sample *out) {
    const struct cell *cell = s->cell;
    struct held held = {0};
    struct turn *turn = &s->turn;
    *turn = (struct turn){.strategy = cell->strategy, .born = s->born};
    int64_t used = usage_ns(cell->strategy);
    turn->called = now_ns();
    (cell->strategy->many ? take_many : take_each)(turn, (unsigned)cell->commands,
                                                   (unsigned)cell->at_once, &held);
    int64_t total = now_ns() - turn->called;
    *out = (struct sample){.called = turn->called,
                           .call = held.all,
                           .longest = held.longest,
                           .total = total,
                           .cpu = usage_ns(cell->strategy) - used};
    return turn->problem[0] ? -1 : 0;
}
