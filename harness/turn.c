#include "turn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "targets/target.h"

void turn_fail(struct turn *t, int rc, const char *format, ...) {
    va_list arguments;
    if (t->problem[0])
        return;
    va_start(arguments, format);
    vsnprintf(t->problem, sizeof t->problem, format, arguments);
    va_end(arguments);
    t->unsupported = rc == -ENOSYS || rc == -ENOTSUP;
}

static int64_t microseconds(struct timeval t) {
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

void turn_check(struct turn *t, const struct ended *e) {
    if (e->unsupported)
        turn_fail(t, -ENOTSUP, "%s", e->unsupported);
    else if (WIFSIGNALED(e->status))
        turn_fail(t, 0, "the target was killed by signal %d (%s)", WTERMSIG(e->status),
                  strsignal(WTERMSIG(e->status)));
    else if (WEXITSTATUS(e->status) == 127)
        turn_fail(t, 0, "the target could not be executed (status 127)");
    else if (WEXITSTATUS(e->status) != TARGET_STATUS)
        turn_fail(t, 0, "the target exited with %d, not %d", WEXITSTATUS(e->status), TARGET_STATUS);
}

void turn_take(struct turn *t) {
    int rc = 0;
    unsigned made = 0;
    int64_t elsewhere = t->strategy->elsewhere ? t->strategy->elsewhere() : 0;
    int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    t->called = now_ns();
    for (; made < t->want && rc == 0; made += rc == 0)
        rc = t->strategy->body(&t->born[made]);
    t->returned = now_ns();
    if (rc < 0)
        turn_fail(t, rc, "child %u of %u could not be started: %s", made + 1, t->want,
                  strerror(-rc));
    if (t->between && made == t->want)
        t->between(t->argument);
    for (unsigned i = 0; i < made; i++) {
        struct ended ended = {0};
        rc = t->strategy->finish(&t->born[i], &ended);
        if (rc < 0)
            turn_fail(t, 0, "a child could not be executed or waited for: %s", strerror(-rc));
        else
            turn_check(t, &ended);
        t->cpu += 1000 * (microseconds(ended.usage.ru_utime) + microseconds(ended.usage.ru_stime));
    }
    t->reaped = now_ns();
    t->cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    if (t->strategy->elsewhere)
        t->cpu += t->strategy->elsewhere() - elsewhere;
    t->made = made;
}
