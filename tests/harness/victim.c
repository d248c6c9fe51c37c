#include "victim.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock.h"

/*
 * Known stalls are found again. Whoever else runs here makes a victim stand still longer: it has a
 * priority above them, where the test may give it one, and of some windows one must be right.
 */
enum { MS = 1000000, KNOWN = 5 * MS, MOST = 5 * MS + MS / 2, TRIES = 40 };

static atomic_int held; /* how often the victim was held */
static void (*_Atomic hold)(void);

/* Signals reach the victim alone: the test's own thread blocks them. */
static void on_signal(int signal) {
    (void)signal;
    int error = errno;
    atomic_load (&hold)();
    atomic_fetch_add(&held, 1);
    errno = error;
}

static void hold_running(void) {
    for (int64_t until = now_ns() + KNOWN; now_ns() < until;)
        continue;
}

static void hold_asleep(void) {
    int64_t until = now_ns() + KNOWN;
    struct timespec t = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

static void pause_ms(int64_t ms) {
    struct timespec t = {.tv_nsec = ms * MS};
    nanosleep(&t, NULL);
}

static void hold_victim(void) {
    int before = atomic_load(&held);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    while (atomic_load(&held) == before)
        pause_ms(1);
}

static void assert_whole(const struct stall *s) {
    assert_true(s->ns >= 0 && s->busy >= 0 && s->waiting >= 0 && s->blocked >= 0);
    assert_int_equal(s->ns, s->busy + s->waiting + s->blocked);
}

/* Of this thread and those that it makes; 0: none, as others have. */
static bool take_priority(int priority) {
    struct sched_param parameter = {.sched_priority = priority};
    return sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameter) == 0;
}

/* It inherits what its maker blocks. */
static struct victim *make(enum victim_kind kind, enum place place) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    struct victim *v = victim_make(kind, place);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    assert_non_null(v);
    return v;
}

/* In a window the victim is held by `act` for KNOWN, of which it must notice at least `least`, as
 * `part`. */
static void assert_found(struct victim *v, void (*act)(void), int64_t least, size_t part) {
    bool is_right = false;
    for (int i = 0; i < TRIES && !is_right; i++) {
        victim_open(v);
        act();
        struct stall found = victim_close(v, now_ns());
        assert_whole(&found);
        is_right = found.ns >= least && found.ns <= MOST &&
                   *(int64_t *)(void *)((char *)&found + part) > found.ns * 9 / 10;
        if (!is_right)
            print_message("%.3f ms: busy %.3f, waiting %.3f, blocked %.3f\n", (double)found.ns / MS,
                          (double)found.busy / MS, (double)found.waiting / MS,
                          (double)found.blocked / MS);
    }
    assert_true(is_right);
}

static struct victim *make_with_priority(enum victim_kind kind, enum place place) {
    take_priority(1);
    struct victim *v = make(kind, place);
    take_priority(2); /* else a spinner would keep it from the CPU that they share */
    return v;
}

static void end(struct victim *v) {
    victim_end(v);
    take_priority(0);
}

static void a_victim_that_is_kept_busy(void **state) {
    (void)state;
    hold = hold_running;
    for (enum victim_kind kind = VICTIM_SPINNER; kind <= VICTIM_FAULTER; kind++) {
        struct victim *v = make_with_priority(kind, PLACE_FREE);
        assert_found(v, hold_victim, KNOWN, offsetof(struct stall, busy));
        end(v);
    }
}

static void a_victim_that_is_blocked(void **state) {
    (void)state;
    hold = hold_asleep;
    struct victim *v = make_with_priority(VICTIM_SPINNER, PLACE_FREE);
    assert_found(v, hold_victim, KNOWN, offsetof(struct stall, blocked));
    end(v);
}

/* It notices only once it gets on, and its tick was due at some time meanwhile. */
static void a_tick_that_comes_late(void **state) {
    (void)state;
    hold = hold_asleep;
    struct victim *v = make_with_priority(VICTIM_TICKER, PLACE_FREE);
    assert_found(v, hold_victim, KNOWN - TICK_NS, offsetof(struct stall, blocked));
    end(v);
}

/* In place of libc's: the faulter gives its pages back slowly, if so, and does not run meanwhile.
 */
static atomic_int slow_ms;

int madvise(void *start, size_t length, int advice) {
    if (advice == MADV_DONTNEED && atomic_load(&slow_ms))
        pause_ms(atomic_load(&slow_ms));
    return (int)syscall(SYS_madvise, start, length, advice);
}

/* That was before the fault which takes long, and none of it is to be taken from what is busy; of
 * the few windows in which the machine held it up as well there must be fewer. */
static void time_between_faults_is_not_taken_for_running(void **state) {
    (void)state;
    enum { WINDOWS = 9 };
    hold = hold_running;
    atomic_store(&slow_ms, 2);
    struct victim *v = make_with_priority(VICTIM_FAULTER, PLACE_FREE);
    int found = 0, right = 0;
    for (int i = 0; i < 4 * TRIES && found < WINDOWS; i++) {
        victim_open(v);
        pause_ms(40); /* many such times */
        hold_victim();
        struct stall stall = victim_close(v, now_ns());
        assert_whole(&stall);
        if (stall.ns < KNOWN || stall.ns > MOST)
            continue;
        found++;
        right += stall.busy > stall.ns * 9 / 10;
    }
    end(v);
    atomic_store(&slow_ms, 0);
    print_message("%d of %d windows\n", right, found);
    assert_true(found > 0 && 2 * right > found);
}

static void a_victim_that_waits_for_a_cpu(void **state) {
    (void)state;
    struct victim *v = make(VICTIM_SPINNER, PLACE_BESIDE);
    if (take_priority(1))
        assert_found(v, hold_running, KNOWN, offsetof(struct stall, waiting));
    end(v);
}

/* What is over before a window is not in it; what reaches into it is, whole. */
static void only_what_reaches_into_the_window(void **state) {
    (void)state;
    hold = hold_running;
    struct victim *v = make_with_priority(VICTIM_SPINNER, PLACE_FREE);
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < TRIES && shortest >= KNOWN; i++) {
        hold_victim();
        pause_ms(1);
        victim_open(v);
        struct stall found = victim_close(v, now_ns());
        assert_whole(&found);
        if (found.ns < shortest)
            shortest = found.ns;
    }
    assert_true(shortest < KNOWN);

    int64_t longest = 0;
    for (int i = 0; i < TRIES && longest < KNOWN; i++) {
        int before = atomic_load(&held);
        assert_int_equal(kill(getpid(), SIGUSR1), 0);
        pause_ms(1); /* it began before, */
        victim_open(v);
        struct stall found = victim_close(v, now_ns()); /* is on at the end, and is waited for */
        while (atomic_load(&held) == before)
            pause_ms(1);
        longest = found.ns > longest ? found.ns : longest;
    }
    assert_true(longest >= KNOWN);
    end(v);
}

static void many_windows_and_many_victims(void **state) {
    (void)state;
    for (enum victim_kind kind = VICTIM_SPINNER; kind <= VICTIM_TICKER; kind++)
        for (enum place place = PLACE_FREE; place <= PLACE_BESIDE; place++) {
            struct victim *v = make(kind, place);
            for (int i = 0; i < 200; i++) {
                victim_open(v);
                struct stall found = victim_close(v, now_ns());
                assert_whole(&found);
            }
            victim_end(v);
        }
    victim_end(NULL);
}

/* A window of a ticker has a tick, wherever in it that is to be; others need not wait for one. */
static void windows_with_a_tick(void **state) {
    (void)state;
    struct victim *v = make(VICTIM_TICKER, PLACE_FREE);
    for (int64_t into = 0; into < TICK_NS; into += TICK_NS / 50) {
        int64_t before = now_ns(), at = victim_aim(v, into);
        assert_true(at >= before && at < now_ns() + TICK_NS);
        assert_int_equal(victim_due(v, at + into), at + into);
        assert_int_equal(victim_due(v, at + into + 1), at + into + TICK_NS);
        while (now_ns() < at)
            continue;
        victim_open(v);
        int64_t due = victim_due(v, now_ns());
        while (now_ns() < due)
            continue;
        struct stall found = victim_close(v, now_ns());
        assert_whole(&found);
        assert_true(found.ns > 0);
    }
    victim_end(v);

    v = make(VICTIM_SPINNER, PLACE_FREE);
    int64_t before = now_ns(), at = victim_aim(v, MS);
    assert_true(at >= before && at <= now_ns());
    assert_int_equal(victim_due(v, at), at);
    victim_end(v);
}

static void pinned_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static void the_caller_is_pinned_only_as_long(void **state) {
    (void)state;
    cpu_set_t before, during, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    struct victim *v = make(VICTIM_SPINNER, PLACE_BESIDE);
    assert_int_equal(sched_getaffinity(0, sizeof during, &during), 0);
    assert_int_equal(CPU_COUNT(&during), 1);
    victim_end(v);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));

    pinned_to(sched_getcpu());
    assert_null(victim_make(VICTIM_SPINNER, PLACE_AWAY));
    assert_int_equal(errno, ENODEV);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2)
        return;
    v = make(VICTIM_SPINNER, PLACE_AWAY);
    victim_end(v);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_victim_that_is_kept_busy),
        cmocka_unit_test(a_victim_that_is_blocked),
        cmocka_unit_test(a_tick_that_comes_late),
        cmocka_unit_test(a_victim_that_waits_for_a_cpu),
        cmocka_unit_test(only_what_reaches_into_the_window),
        cmocka_unit_test(many_windows_and_many_victims),
        cmocka_unit_test(windows_with_a_tick),
        cmocka_unit_test(time_between_faults_is_not_taken_for_running),
        cmocka_unit_test(the_caller_is_pinned_only_as_long),
    };
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
