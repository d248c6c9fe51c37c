#include "turn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "targets/target.h"

__attribute__((format(printf, 2, 3))) static void fail(struct turn *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!t->problem[0])
        vsnprintf(t->problem, sizeof t->problem, format, arguments);
    va_end(arguments);
}

static int64_t microseconds(struct timeval t) {
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void check_end(struct turn *t, const struct ended *e) {
    if (e->unsupported) {
        fail(t, "%s", e->unsupported);
        t->unsupported = true;
    } else if (WIFSIGNALED(e->status))
        fail(t, "the target was killed by signal %d (%s)", WTERMSIG(e->status),
             strsignal(WTERMSIG(e->status)));
    else if (WEXITSTATUS(e->status) == 127)
        fail(t, "the target could not be executed (status 127)");
    else if (WEXITSTATUS(e->status) != TARGET_STATUS)
        fail(t, "the target exited with %d, not %d", WEXITSTATUS(e->status), TARGET_STATUS);
}

void turn_take(struct turn *t) {
    int rc = 0;
    unsigned made = 0;
    int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    t->called = now_ns();
    for (; made < t->want && rc == 0; made += rc == 0)
        rc = t->strategy->body(&t->born[made]);
    t->returned = now_ns();
    if (rc < 0) {
        fail(t, "child %u of %u could not be started: %s", made + 1, t->want, strerror(-rc));
        t->unsupported = rc == -ENOSYS || rc == -ENOTSUP;
    }
    for (unsigned i = 0; i < made; i++) {
        struct ended ended = {0};
        rc = t->strategy->finish(&t->born[i], &ended);
        if (rc < 0)
            fail(t, "a child could not be executed or waited for: %s", strerror(-rc));
        else
            check_end(t, &ended);
        t->cpu += 1000 * (microseconds(ended.usage.ru_utime) + microseconds(ended.usage.ru_stime));
    }
    t->reaped = now_ns();
    t->cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    t->made = made;
}
