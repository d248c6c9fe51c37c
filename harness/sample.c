#include "sample.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "targets/target.h"

__attribute__((format(printf, 2, 3))) static int fail(struct sampler *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!s->problem[0])
        vsnprintf(s->problem, sizeof s->problem, format, arguments);
    va_end(arguments);
    return -1;
}

/* The caller's own work between two spawns. */
static void work(uint64_t ns) {
    for (int64_t until = now_ns() + (int64_t)ns; ns && now_ns() < until;)
        continue;
}

static int64_t microseconds(struct timeval t) {
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void check_end(struct sampler *s, const struct ended *e) {
    if (e->unsupported) {
        fail(s, "%s", e->unsupported);
        s->unsupported = true;
    } else if (WIFSIGNALED(e->status))
        fail(s, "the target was killed by signal %d (%s)", WTERMSIG(e->status),
             strsignal(WTERMSIG(e->status)));
    else if (WEXITSTATUS(e->status) == 127)
        fail(s, "the target could not be executed (status 127)");
    else if (WEXITSTATUS(e->status) != TARGET_STATUS)
        fail(s, "the target exited with %d, not %d", WEXITSTATUS(e->status), TARGET_STATUS);
}

/* The last of the children's stamps. */
static int64_t read_stamps(struct sampler *s, unsigned count) {
    int64_t last = 0;
    for (unsigned i = 0; i < count; i++) {
        target_stamp stamp;
        if (read(s->stamps, &stamp, sizeof stamp) != sizeof stamp)
            return fail(s, "a target did not stamp its first instruction");
        if ((int64_t)stamp > last)
            last = (int64_t)stamp;
    }
    return last;
}

int sample_take(struct sampler *s, struct sample *out) {
    const struct strategy *strategy = s->cell->strategy;
    unsigned want = strategy->body ? s->cell->at_once : 0, made = 0;
    int64_t cpu = 0;
    int rc = 0;

    s->problem[0] = '\0';
    s->unsupported = false;
    work(s->cell->gap_ns);
    int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t called = now_ns();
    for (; made < want && rc == 0; made += rc == 0)
        rc = strategy->body(&s->born[made]);
    int64_t returned = now_ns();
    if (rc < 0) {
        fail(s, "child %u of %u could not be started: %s", made + 1, want, strerror(-rc));
        s->unsupported = rc == -ENOSYS || rc == -ENOTSUP;
    }
    for (unsigned i = 0; i < made; i++) {
        struct ended ended = {0};
        rc = strategy->finish(&s->born[i], &ended);
        if (rc < 0)
            fail(s, "a child could not be executed or waited for: %s", strerror(-rc));
        else
            check_end(s, &ended);
        cpu += 1000 * (microseconds(ended.usage.ru_utime) + microseconds(ended.usage.ru_stime));
    }
    int64_t reaped = now_ns();
    cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;

    int64_t ready = s->has_stamps && want && !s->problem[0] ? read_stamps(s, made) - called : 0;
    if (s->problem[0]) {
        for (target_stamp stale; s->has_stamps && read(s->stamps, &stale, sizeof stale) > 0;)
            continue;
        return -1;
    }
    *out = (struct sample){
        .call = returned - called, .ready = ready, .total = reaped - called, .cpu = cpu};
    return 0;
}
