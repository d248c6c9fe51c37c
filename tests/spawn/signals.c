/* Masks, handlers and ignored signals, in the child and in its parent. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

#define BIT(signal) (1ul << ((signal)-1))

static unsigned long own_mask(void) {
    unsigned long mask = 0;
    CHECK_EQ(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask), 0);
    return mask;
}

/* All 64, also the two that libc keeps for itself (B59: the kernel's masks are of 8 bytes). */
static void set_mask(unsigned long mask) {
    CHECK_EQ(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask), 0);
}

static void nothing(int signal) {
    (void)signal;
}

/* With each mechanism: `body` for spawn, start, and both where clone3 is refused. */
static void with_each_mechanism(void (*body)(launcher *)) {
    for (int l = 0; l < 2; l++)
        body(launchers[l]);
    refuse(SYS_clone3, ENOSYS);
    for (int l = 0; l < 2; l++)
        body(launchers[l]);
}

static void ignored(launcher *launch) {
    const int ignore[] = {SIGPIPE, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, 34, 64};
    unsigned long want = 0;
    for (size_t i = 0; i < sizeof ignore / sizeof *ignore; i++) {
        signal(ignore[i], SIG_IGN);
        want |= BIT(ignore[i]);
    }
    struct show s = show_new();
    show_run(&s, launch, &seen);
    CHECK(seen.ignored == (want & ~BIT(SIGPIPE)));
    CHECK_EQ(seen.caught, 0);
    CHECK(signal(SIGPIPE, SIG_IGN) == SIG_IGN);
}

/* SIGPIPE gets its default; what else is ignored stays so (nohup). */
TEST(b53_ignored_signals) {
    with_each_mechanism(ignored);
}

static void caught(launcher *launch) {
    for (int s = 1; s <= 64; s++)
        if (s != SIGKILL && s != SIGSTOP)
            signal(s, nothing);
    struct show s = show_new();
    show_run(&s, launch, &seen);
    CHECK_EQ(seen.caught, 0);
    CHECK_EQ(seen.ignored, 0);
    CHECK(signal(SIGTERM, nothing) == nothing);
}

TEST(b55_handlers_are_reset) {
    with_each_mechanism(caught);
}

static void masked(launcher *launch) {
    const unsigned long masks[] = {0, BIT(SIGTERM) | BIT(SIGCHLD) | BIT(SIGUSR1) | BIT(37), ~0ul};
    for (size_t i = 0; i < 3; i++) {
        set_mask(masks[i]);
        unsigned long before = own_mask();
        struct show s = show_new();
        show_run(&s, launch, &seen);
        CHECK_EQ(seen.blocked, 0);
        CHECK(own_mask() == before);
    }
}

TEST(b54_mask_is_empty_in_the_child_and_kept_in_the_parent) {
    with_each_mechanism(masked);
}

/* A signal that is pending for the parent is none of the child's. */
static void pending(launcher *launch) {
    set_mask(BIT(SIGTERM));
    raise(SIGTERM);
    struct show s = show_new();
    show_run(&s, launch, &seen);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    CHECK_EQ(sigwaitinfo(&set, NULL), SIGTERM);
}

TEST(b54_pending_signals_stay_in_the_parent) {
    with_each_mechanism(pending);
}

/* ---- B55: no handler runs in a child ---- */

static pid_t parent;
static atomic_int strayed;
static atomic_bool done;

static void check_pid(int signal) {
    (void)signal;
    if (getpid() != parent)
        strayed++;
}

static const int storm[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,   SIGUSR2, SIGALRM,
                            SIGTERM, SIGPIPE, SIGCONT, SIGWINCH,  SIGIO,   SIGPWR,
                            SIGURG,  SIGPROF, SIGXCPU, SIGVTALRM, 34,      50};

static void *rain(void *newest) {
    set_mask(~0ul);
    unsigned seed = 55;
    while (!done) {
        int signal = storm[(size_t)rand_r(&seed) % (sizeof storm / sizeof *storm)];
        kill(0, signal);
        pid_t child = *(_Atomic pid_t *)newest;
        if (child > 0)
            kill(child, signal);
        nap(200);
    }
    return NULL;
}

static void spawn_in_rain(int n, _Atomic pid_t *newest) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int i = 0; i < n; i++) {
        forkless_status status;
        forkless_child *child = launched(launchers[i % 2], c);
        *newest = forkless_pid(child);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        *newest = 0;
        CHECK(status.how == FORKLESS_EXITED ? status.code == 7 : status.how == FORKLESS_KILLED);
        forkless_child_free(child);
    }
    forkless_command_free(c);
}

static void handlers_stay(void) {
    _Atomic pid_t newest = 0;
    CHECK_EQ(setpgid(0, 0), 0);
    parent = getpid();
    for (size_t i = 0; i < sizeof storm / sizeof *storm; i++) {
        const struct sigaction a = {.sa_handler = check_pid, .sa_flags = i % 2 ? SA_RESTART : 0};
        CHECK_EQ(sigaction(storm[i], &a, NULL), 0);
    }
    pthread_t rainer = thread(rain, &newest);
    spawn_in_rain(count(10000), &newest);
    done = true;
    CHECK_EQ(pthread_join(rainer, NULL), 0);
    CHECK_EQ(strayed, 0);
    check_no_child();
}

TEST(b55_no_handler_runs_in_a_child) {
    handlers_stay();
}

TEST(b55_no_handler_runs_in_a_child_of_clone) {
    refuse(SYS_clone3, ENOSYS);
    handlers_stay();
}

/* ---- B34: interrupted at any moment ---- */

static atomic_int ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

static void interrupted(launcher *launch) {
    const struct sigaction a = {.sa_handler = tick};
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    CHECK_EQ(forkless_command_pipe(good, 1, FORKLESS_WRITES), 0);
    CHECK_EQ(forkless_command_pipe(bad, 1, FORKLESS_WRITES), 0);
    CHECK_EQ(sigaction(SIGALRM, &a, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < count(4000); i++) {
        forkless_child *child = launched(launch, good);
        if (i % 2)
            CHECK_EQ(forkless_wait(child, from_now(15000), NULL, NULL), 0);
        ends(child, FORKLESS_EXITED, 7);
        fails(launch, bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    }
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
    CHECK(ticks > 0);
    forkless_command_free(good);
    forkless_command_free(bad);
    check_no_child();
}

TEST(b34_a_storm_of_timers) {
    with_each_mechanism(interrupted);
}

/* ---- B57: each thread gets its own mask back ---- */

static void *own_masks(void *which) {
    unsigned long mask = which ? BIT(SIGCHLD) | BIT(SIGUSR1) : BIT(SIGUSR2);
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_WRITES), 0);
    set_mask(mask);
    for (int i = 0; i < count(2000); i++) {
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 7);
        CHECK(own_mask() == mask);
    }
    forkless_command_free(c);
    return NULL;
}

static void overlapping_masks(void) {
    pthread_t first = thread(own_masks, NULL), second = thread(own_masks, (void *)1);
    CHECK_EQ(pthread_join(first, NULL), 0);
    CHECK_EQ(pthread_join(second, NULL), 0);
}

TEST(b57_masks_of_two_threads) {
    overlapping_masks();
    refuse(SYS_clone3, ENOSYS);
    overlapping_masks();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b34_a_storm_of_timers),
        cmocka_unit_test(b53_ignored_signals),
        cmocka_unit_test(b54_mask_is_empty_in_the_child_and_kept_in_the_parent),
        cmocka_unit_test(b54_pending_signals_stay_in_the_parent),
        cmocka_unit_test(b55_handlers_are_reset),
        cmocka_unit_test(b55_no_handler_runs_in_a_child),
        cmocka_unit_test(b55_no_handler_runs_in_a_child_of_clone),
        cmocka_unit_test(b57_masks_of_two_threads),
    };
    return RUN(tests);
}
