/* What a child has from the thread that started it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

#define BIT(signal) (1ul << ((signal)-1))

static void show_on(const struct route *r, struct show *s) {
    ends(launched_so(r, s->command), FORKLESS_EXITED, 0);
    show_read(s, &seen);
}

static void in_thread(void *(*body)(void *), const void *argument) {
    CHECK_EQ(pthread_join(thread(body, (void *)argument), NULL), 0);
}

/* ---- B117: what is a thread's own ---- */

static cpu_set_t all_cpus;

static void check_scheduling(int nice, int policy, unsigned cpus) {
    char line[64];
    snprintf(line, sizeof line, "nice %d", nice);
    CHECK(seen_line(&seen, line));
    snprintf(line, sizeof line, "scheduler %d 0", policy);
    CHECK(seen_line(&seen, line));
    const char *at = strstr(seen.text, "\ncpus ") + strlen("\ncpus");
    unsigned n = 0;
    for (; *at != '\n'; at++)
        n += *at == ' ';
    CHECK_EQ(n, cpus);
}

static void *from_an_odd_thread(void *route) {
    const struct sched_param priority = {0};
    cpu_set_t first;
    CPU_ZERO(&first);
    for (unsigned cpu = 0; CPU_COUNT(&first) == 0; cpu++)
        if (CPU_ISSET(cpu, &all_cpus))
            CPU_SET(cpu, &first);
    CHECK_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    CHECK_EQ(sched_setscheduler(0, SCHED_BATCH, &priority), 0);
    CHECK_EQ(setpriority(PRIO_PROCESS, 0, 9), 0);
    struct show s = show_new();
    show_on(route, &s);
    check_scheduling(9, SCHED_BATCH, 1);
    s = show_new();
    CHECK_EQ(forkless_command_affinity(s.command, &all_cpus, sizeof all_cpus), 0);
    CHECK_EQ(forkless_command_nice(s.command, geteuid() == 0 ? 0 : 11), 0);
    CHECK_EQ(forkless_command_scheduler(s.command, SCHED_OTHER, 0), 0);
    show_on(route, &s);
    check_scheduling(geteuid() == 0 ? 0 : 11, SCHED_OTHER, (unsigned)CPU_COUNT(&all_cpus));
    CHECK_EQ(getpriority(PRIO_PROCESS, 0), 9);
    CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
    return NULL;
}

static void beside_an_odd_thread(const struct route *r) {
    CHECK_EQ(sched_getaffinity(0, sizeof all_cpus, &all_cpus), 0);
    in_thread(from_an_odd_thread, r);
    struct show s = show_new();
    show_on(r, &s);
    check_scheduling(0, SCHED_OTHER, (unsigned)CPU_COUNT(&all_cpus));
}

TEST(b117_scheduling_is_the_threads) {
    if (getpriority(PRIO_PROCESS, 0) != 0 || sched_getscheduler(0) != SCHED_OTHER)
        skip_test("not of normal priority");
    on_each_route(beside_an_odd_thread);
}

/* ---- B54: masks ---- */

static unsigned long own_mask(void) {
    unsigned long mask = 0;
    CHECK_EQ(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask), 0);
    return mask;
}

/* Past libc, which keeps two for itself. */
static void set_own_mask(unsigned long mask) {
    CHECK_EQ(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask), 0);
}

static const unsigned long masks[] = {0, BIT(SIGTERM) | BIT(SIGCHLD) | BIT(SIGUSR1) | BIT(37),
                                      BIT(33), ~(BIT(SIGKILL) | BIT(SIGSTOP))};
enum { MASKS = 4 };

static void *inherit_mask(void *route) {
    for (int i = 0; i < MASKS; i++) {
        set_own_mask(masks[i]);
        struct show s = show_new();
        CHECK_EQ(forkless_command_mask(s.command, NULL), 0);
        show_on(route, &s);
        CHECK(seen.blocked == masks[i]);
        CHECK(own_mask() == masks[i]);
    }
    return NULL;
}

static void *give_mask(void *route) {
    set_own_mask(BIT(SIGHUP) | BIT(SIGTERM));
    for (int i = 0; i < MASKS; i++) {
        sigset_t set;
        sigemptyset(&set);
        memcpy(&set, &masks[i], sizeof masks[i]);
        struct show s = show_new();
        CHECK_EQ(forkless_command_mask(s.command, NULL), 0);
        CHECK_EQ(forkless_command_mask(s.command, &set), 0);
        memset(&set, 0x55, sizeof set);
        show_on(route, &s);
        CHECK(seen.blocked == masks[i]);
        CHECK(own_mask() == (BIT(SIGHUP) | BIT(SIGTERM)));
    }
    struct show s = show_new();
    show_on(route, &s);
    CHECK_EQ(seen.blocked, 0);
    return NULL;
}

static void mask_of_threads(const struct route *r) {
    set_own_mask(BIT(SIGUSR2));
    in_thread(inherit_mask, r);
    in_thread(give_mask, r);
    CHECK(own_mask() == BIT(SIGUSR2));
}

TEST(b54_masks_on_each_route) {
    on_each_route(mask_of_threads);
}

/* ---- B53: what is ignored ---- */

static void nothing(int signal) {
    (void)signal;
}

static bool is_of_libc(int signal) {
    return signal == 32 || signal == 33;
}

/* A third each: default, ignored, with a handler. */
static void mix_own_dispositions(void) {
    for (int s = 1; s <= 64; s++)
        if (s != SIGKILL && s != SIGSTOP && !is_of_libc(s))
            CHECK(signal(s, s % 3 == 0 ? SIG_DFL : s % 3 == 1 ? SIG_IGN : nothing) != SIG_ERR);
}

static unsigned long own_ignored(void) {
    unsigned long ignored = 0;
    for (int s = 1; s <= 64; s++)
        if (s % 3 == 1 && s != SIGSTOP && s != SIGKILL && !is_of_libc(s))
            ignored |= BIT(s);
    return ignored;
}

static void check_ignored(const struct route *r, struct show *s, unsigned long ignored) {
    static struct snapshot before;
    snapshot_take(&before);
    ends(launched_so(r, s->command), FORKLESS_EXITED, 0);
    snapshot_check(&before);
    show_read(s, &seen);
    CHECK(seen.ignored == ignored);
    CHECK_EQ(seen.caught, 0);
}

static void dispositions(const struct route *r) {
    const unsigned long all = ~(BIT(SIGKILL) | BIT(SIGSTOP));
    const int every = FORKLESS_ALL_SIGNALS;
    mix_own_dispositions();
    signal(SIGPIPE, SIG_IGN);
    struct show s = show_new();
    show_on(r, &s);
    CHECK(seen.ignored == (own_ignored() & ~BIT(SIGPIPE)));
    s = show_new();
    CHECK_EQ(forkless_command_signal(s.command, SIGPIPE, FORKLESS_INHERIT), 0);
    check_ignored(r, &s, own_ignored() | BIT(SIGPIPE));
    s = show_new();
    CHECK_EQ(forkless_command_signal(s.command, every, FORKLESS_DEFAULT), 0);
    check_ignored(r, &s, 0);
    s = show_new();
    CHECK_EQ(forkless_command_signal(s.command, every, FORKLESS_IGNORE), 0);
    check_ignored(r, &s, all);
    s = show_new();
    CHECK_EQ(forkless_command_signal(s.command, every, FORKLESS_IGNORE), 0);
    CHECK_EQ(forkless_command_signal(s.command, every, FORKLESS_INHERIT), 0);
    check_ignored(r, &s, own_ignored() | BIT(SIGPIPE));
    /* All by default but those that are kept: one that is ignored, one that is not. */
    s = show_new();
    CHECK_EQ(forkless_command_signal(s.command, every, FORKLESS_DEFAULT), 0);
    CHECK_EQ(forkless_command_signal(s.command, SIGHUP, FORKLESS_INHERIT), 0);
    CHECK_EQ(forkless_command_signal(s.command, SIGINT, FORKLESS_INHERIT), 0);
    CHECK_EQ(forkless_command_signal(s.command, 64, FORKLESS_IGNORE), 0);
    check_ignored(r, &s, BIT(SIGHUP) | BIT(64));
}

TEST(b53_dispositions_on_each_route) {
    on_each_route(dispositions);
}

static void each_disposition(const struct route *r) {
    mix_own_dispositions();
    for (int n = 1; n <= 64; n++) {
        if (n == SIGKILL || n == SIGSTOP || n == SIGPIPE)
            continue;
        struct show s = show_new();
        CHECK_EQ(forkless_command_signal(s.command, n, FORKLESS_DEFAULT), 0);
        int other = n % 64 + 1;
        bool too = other != SIGKILL && other != SIGSTOP && other != SIGPIPE;
        if (too)
            CHECK_EQ(forkless_command_signal(s.command, other, FORKLESS_IGNORE), 0);
        show_on(r, &s);
        CHECK(seen.ignored ==
              (((own_ignored() & ~BIT(n)) | (too ? BIT(other) : 0)) & ~BIT(SIGPIPE)));
    }
}

/* One route: the calls are the same on all. */
TEST(b53_each_signal) {
    each_disposition(&(struct route){"start", forkless_start, FORKLESS_CLONE3_VM,
                                     FORKLESS_CLONE3_VM, false, false});
}

/* ---- B62: stopped from a terminal before its exec ---- */

TEST(b62_its_group_is_stopped_before_exec) {
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    for (int l = 0; l < 2; l++) {
        struct held h = {.command = c, .launch = launchers[l], .number = SYS_execve};
        siginfo_t info;
        held_begin(&h);
        CHECK_EQ(kill(-h.pid, SIGTSTP), 0);
        CHECK_EQ(waitid(P_PID, (id_t)h.pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
        if (l == 1) { /* who waits with a deadline, or kills, is not held by it */
            held_join(&h);
            CHECK_EQ(forkless_wait(h.child, from_now(10), NULL, NULL), -ETIMEDOUT);
        }
        CHECK_EQ(kill(-h.pid, SIGCONT), 0);
        held_next(&h);
        held_go(&h, 0);
        if (l == 0)
            held_join(&h);
        ends(h.child, FORKLESS_EXITED, 7);
        close(h.listener);
    }
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b117_scheduling_is_the_threads),
        cmocka_unit_test(b54_masks_on_each_route),
        cmocka_unit_test(b53_dispositions_on_each_route),
        cmocka_unit_test(b53_each_signal),
        cmocka_unit_test(b62_its_group_is_stopped_before_exec),
    };
    return RUN(tests);
}
