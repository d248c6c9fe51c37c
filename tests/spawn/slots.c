/* Slots: many at once, none left, room enough. Linked statically, to look inside. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "slot.h"
#include "support.h"

/* ---- in flight ---- */

enum { FLIGHT = 1024 };

static forkless_child *flying[FLIGHT];

/* All of them by one thread, none of which gets to its exec. */
static int start_all(const forkless_command *c, forkless_child **out, forkless_error *error) {
    int n = count(FLIGHT);
    for (int i = 0; i < n; i++)
        CHECK_EQ(forkless_start(c, &flying[i], error), 0);
    *out = flying[0];
    return 0;
}

static int by_address(const void *a, const void *b) {
    const forkless_child *x = *(forkless_child *const *)a, *y = *(forkless_child *const *)b;
    return (x > y) - (x < y);
}

TEST(many_in_flight) {
    int n = count(FLIGHT);
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = start_all, .number = SYS_execve};
    uint64_t *ids = calloc((size_t)n, sizeof *ids);
    held_begin(&h);
    for (int i = 0; i < n; i++) {
        ids[i] = h.id;
        if (i + 1 < n)
            held_next(&h);
    }
    held_join(&h);
    qsort(flying, (size_t)n, sizeof *flying, by_address);
    for (int i = 1; i < n; i++)
        CHECK(flying[i] != flying[i - 1]);
    for (int i = 0; i < n; i++)
        CHECK_EQ(forkless_wait(flying[i], 0, NULL, NULL), -ETIMEDOUT);
    for (int i = n - 1; i >= 0; i--) {
        h.id = ids[i];
        held_go(&h, 0);
    }
    for (int i = 0; i < n; i++)
        ends(flying[i], FORKLESS_EXITED, 7);
    free(ids);
    forkless_command_free(c);
    check_no_child();
}

/* Given up before their exec; the second half fails there. */
TEST(many_abandoned_in_flight) {
    int n = count(FLIGHT);
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = start_all, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    for (int i = 0; i < n; i++)
        forkless_child_free(flying[i]);
    forkless_command_free(c);
    for (int i = 0; i < n; i++) {
        held_go(&h, i < n / 2 ? 0 : -ENOENT);
        if (i + 1 < n)
            held_next(&h);
    }
    /* Until the last has exec'd it is nobody's child for waitpid. */
    for (int reaped = 0; reaped < n / 2;)
        if (waitpid(-1, NULL, 0) > 0)
            reaped++;
        else
            nap(1000);
    close(h.listener);
    c = probe("exit", NULL);
    forkless_child *first = launched(forkless_spawn, c); /* takes a slot of theirs */
    bool again = false;
    for (int i = 0; i < n; i++)
        again |= first == flying[i];
    CHECK(again);
    ends(first, FORKLESS_EXITED, 0);
    for (int i = 0; i < n; i++)
        flying[i] = launched(forkless_spawn, c);
    for (int i = 0; i < n; i++)
        ends(flying[i], FORKLESS_EXITED, 0);
    forkless_command_free(c);
    check_no_child();
}

TEST(many_starts_leave_nothing) {
    static struct snapshot before;
    forkless_command *c = probe("exit", "7", NULL);
    forkless_child *first = launched(forkless_start, c);
    ends(first, FORKLESS_EXITED, 7);
    snapshot_take(&before);
    for (int i = 0; i < count(10000); i++) {
        forkless_child *child = launched(launchers[i % 2], c);
        CHECK(child == first);
        if (i % 3 == 0)
            CHECK(forkless_pidfd(child) >= 0);
        ends(child, FORKLESS_EXITED, 7);
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

static void *start_and_wait(void *command) {
    for (int i = 0; i < count(4000) / 8; i++) {
        forkless_child *children[5];
        for (int k = 0; k < 5; k++) {
            children[k] = launched(launchers[k % 2], command);
            children[k]->status.code = k;
        }
        for (int k = 0; k < 5; k++) {
            CHECK_EQ(children[k]->status.code, k);
            ends(children[k], FORKLESS_EXITED, 7);
        }
    }
    return NULL;
}

TEST(threads_share_no_slot) {
    pthread_t threads[8];
    forkless_command *c = probe("exit", "7", NULL);
    for (int i = 0; i < 8; i++)
        threads[i] = thread(start_and_wait, c);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    forkless_command_free(c);
    check_no_child();
}

static pthread_barrier_t together;

static void *start_together(void *command) {
    pthread_barrier_wait(&together);
    forkless_child *children[4];
    for (int k = 0; k < 4; k++)
        children[k] = launched(launchers[k % 2], command);
    for (int k = 0; k < 4; k++)
        ends(children[k], FORKLESS_EXITED, 7);
    return NULL;
}

/* Eight threads find that there is no pool yet, and that its first chunk is used up. */
static void all_at_once(forkless_command *c) {
    pthread_t threads[8];
    CHECK_EQ(pthread_barrier_init(&together, NULL, 8), 0);
    for (int i = 0; i < 8; i++)
        threads[i] = thread(start_together, c);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    check_no_child();
}

TEST(first_starts_of_many_threads) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int round = 0; round < count(400); round++) {
        int status;
        pid_t pid = forked(); /* begins with an empty pool */
        if (pid == 0) {
            all_at_once(c);
            _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
    forkless_command_free(c);
}

/* ---- B96: stacks ---- */

enum { PATTERN = 0x5a };

/* The most that the child has ever used of its stack. */
static size_t used(const unsigned char *stack) {
    size_t untouched = 0;
    while (untouched < FL_STACK_SIZE && stack[untouched] == PATTERN)
        untouched++;
    return FL_STACK_SIZE - untouched;
}

static void check_stack(forkless_command *c, const char *what) {
    forkless_command *plain = probe("exit", NULL);
    forkless_child *slot = launched(forkless_spawn, plain);
    void *stack = fl_slot_stack(slot);
    ends(slot, FORKLESS_EXITED, 0);
    for (int l = 0; l < 2; l++) {
        memset(stack, PATTERN, FL_STACK_SIZE);
        forkless_child *child = launched(launchers[l], c);
        CHECK(child == slot);
        ends(child, FORKLESS_EXITED, 0);
        CHECK(used(stack) > 0);
        fprintf(stderr, "%s: %zu bytes of %d\n", what, used(stack), FL_STACK_SIZE);
        CHECK(used(stack) <= 4096);
    }
    forkless_command_free(plain);
    forkless_command_free(c);
}

static forkless_command *with_maps(void) {
    forkless_command *c = probe("exit", NULL);
    for (int to = 0; to < 60; to++)
        CHECK_EQ(forkless_command_fd(c, to, (to + 1) % 3), 0);
    return c;
}

static forkless_command *with_everything(void) {
    const struct rlimit none = {0, 0};
    const unsigned char cpus[8] = {1};
    forkless_command *c = with_maps();
    CHECK_EQ(forkless_command_file(c, 70, "/dev/null", O_RDWR, 0), 0);
    CHECK_EQ(forkless_command_memory(c, 71, "data", 4), 0);
    CHECK_EQ(forkless_command_pipe(c, 72, FORKLESS_WRITES), 0);
    CHECK_EQ(forkless_command_same(c, 73, 70), 0);
    CHECK_EQ(forkless_command_cwd(c, "/"), 0);
    CHECK_EQ(forkless_command_umask(c, 077), 0);
    CHECK_EQ(forkless_command_session(c), 0);
    CHECK_EQ(forkless_command_rlimit(c, RLIMIT_CORE, &none), 0);
    CHECK_EQ(forkless_command_no_new_privs(c), 0);
    CHECK_EQ(forkless_command_io_priority(c, 2, 5), 0);
    CHECK_EQ(forkless_command_affinity(c, cpus, sizeof cpus), 0);
    CHECK_EQ(forkless_command_nice(c, 5), 0);
    CHECK_EQ(forkless_command_scheduler(c, SCHED_BATCH, 0), 0);
    CHECK_EQ(forkless_command_signal(c, FORKLESS_ALL_SIGNALS, FORKLESS_DEFAULT), 0);
    CHECK_EQ(forkless_command_mask(c, NULL), 0);
    return c;
}

/* By which a child is always held. */
static forkless_command *with_death_signal(void) {
    forkless_command *c = with_everything();
    CHECK_EQ(forkless_command_death_signal(c, SIGTERM), 0);
    return c;
}

TEST(b96_stack_is_large_enough) {
    check_stack(probe("exit", NULL), "default");
    check_stack(with_maps(), "maps");
    check_stack(with_everything(), "everything");
    check_stack(with_death_signal(), "everything and a death signal");
    refuse(SYS_close_range, ENOSYS);
    check_stack(with_maps(), "maps, no close_range");
    check_stack(with_everything(), "everything, no close_range");
    refuse(SYS_clone3, ENOSYS);
    check_stack(with_maps(), "maps, no close_range, no clone3");
    check_stack(with_everything(), "everything, no close_range, no clone3");
}

TEST(b96_guard_page) {
    forkless_command *c = probe("exit", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    volatile char *stack = fl_slot_stack(child);
    pid_t pid = forked();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        stack[0] = 1;
        stack -= (uintptr_t)stack % 4096;
        stack[-1] = 1;
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ends(child, FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

static void *spawn_twice(void *command) {
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], command), FORKLESS_EXITED, 7);
    return NULL;
}

TEST(b96_from_a_small_thread) {
    if (sanitized())
        skip_test("sanitizers need more stack");
    forkless_command *c = probe("exit", "7", NULL);
    pthread_t t;
    pthread_attr_t small;
    pthread_attr_init(&small);
    CHECK_EQ(pthread_attr_setstacksize(&small, 16384), 0);
    CHECK_EQ(pthread_create(&t, &small, spawn_twice, c), 0);
    CHECK_EQ(pthread_join(t, NULL), 0);
    refuse(SYS_clone3, ENOSYS);
    CHECK_EQ(pthread_create(&t, &small, spawn_twice, c), 0);
    CHECK_EQ(pthread_join(t, NULL), 0);
    forkless_command_free(c);
}

static ucontext_t caller, coroutine;
static forkless_command *of_coroutine;

static void in_coroutine(void) {
    spawn_twice(of_coroutine);
}

TEST(b96_from_a_coroutine) {
    if (sanitized())
        skip_test("sanitizers do not follow the stack");
    static _Alignas(64) char stack[16384];
    of_coroutine = probe("exit", "7", NULL);
    CHECK_EQ(getcontext(&coroutine), 0);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &caller;
    makecontext(&coroutine, in_coroutine, 0);
    CHECK_EQ(swapcontext(&caller, &coroutine), 0);
    forkless_command_free(of_coroutine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_in_flight),
        cmocka_unit_test(many_abandoned_in_flight),
        cmocka_unit_test(many_starts_leave_nothing),
        cmocka_unit_test(threads_share_no_slot),
        cmocka_unit_test(first_starts_of_many_threads),
        cmocka_unit_test(b96_stack_is_large_enough),
        cmocka_unit_test(b96_guard_page),
        cmocka_unit_test(b96_from_a_small_thread),
        cmocka_unit_test(b96_from_a_coroutine),
    };
    return RUN(tests);
}
