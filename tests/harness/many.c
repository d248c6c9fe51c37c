/* Strategies of many commands: when a batch is made, and what is left after a failure. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "attributes.h"
#include "case.h"

static struct request waiters(unsigned commands) {
    return (struct request){.target = getenv("WAITER"),
                            .programs = getenv("PROGRAMS"),
                            .children = 2,
                            .attribute = &attributes[0],
                            .commands = commands};
}

static unsigned count_in(const char *folder) {
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *entry; d && (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static unsigned count_threads(void) {
    return count_in("/proc/self/task");
}

/* Running, or not reaped. */
static bool has_child(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | (int)__WALL) == 0;
}

static void the_batch_of_many_is_made_in_the_sample(void **state) {
    const struct strategy *s = &strategy_forkless_batch_thread;
    const struct request one = waiters(1), many = waiters(3);
    (void)state;
    assert_int_equal(s->prepare(&one), 0);
    assert_int_equal(count_threads(), 2);
    s->cleanup();
    assert_int_equal(s->prepare(&many), 0);
    assert_int_equal(count_threads(), 1);
    assert_int_equal(s->many->begin(3, 2), 0);
    assert_int_equal(count_threads(), 2);
    s->many->end();
    assert_int_equal(count_threads(), 1);
    s->cleanup();
}

/* As when a command cannot be handed over, or no child can be waited for. */
static void what_runs_is_ended_when_a_sample_is_broken_off(void **state) {
    static const struct strategy *const both[] = {&strategy_forkless_batch,
                                                  &strategy_forkless_batch_thread};
    const struct request request = waiters(3);
    const struct timespec nap = {.tv_nsec = 1000000};
    (void)state;
    for (int i = 0; i < 2; i++) {
        unsigned ended = 0, wrong = 0;
        assert_int_equal(both[i]->prepare(&request), 0);
        assert_int_equal(both[i]->many->begin(3, 2), 0);
        for (int given = 0; given < 3; given++)
            assert_int_equal(both[i]->many->give(), 0);
        for (; !has_child(); nanosleep(&nap, NULL))
            assert_int_equal(both[i]->many->collect(&ended, &wrong), 0);
        both[i]->many->end();
        assert_false(has_child());
        both[i]->cleanup();
    }
}

static void what_was_handed_over_alone_is_ended_too(void **state) {
    const struct strategy *s = &strategy_forkless_batch_thread;
    const struct request request = waiters(1);
    const struct timespec nap = {.tv_nsec = 1000000};
    struct born born;
    (void)state;
    assert_int_equal(s->prepare(&request), 0);
    assert_int_equal(s->body(&born), 0);
    while (!has_child())
        nanosleep(&nap, NULL);
    s->cleanup();
    assert_false(has_child());
}

static void a_server_without_places_leaves_no_descriptor(void **state) {
    const struct request request = waiters(1);
    struct rlimit limit, none;
    unsigned before = count_in("/proc/self/fd");
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    int rc = strategy_server.prepare(&request);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(count_in("/proc/self/fd"), before);
    assert_false(has_child());
}

/* What the waiters read: nothing. */
static int open_input(void **state) {
    static int input[2];
    (void)state;
    return pipe(input) < 0 || dup2(input[0], STDIN_FILENO) < 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_batch_of_many_is_made_in_the_sample),
        cmocka_unit_test(what_runs_is_ended_when_a_sample_is_broken_off),
        cmocka_unit_test(what_was_handed_over_alone_is_ended_too),
        cmocka_unit_test(a_server_without_places_leaves_no_descriptor),
    };
    return cmocka_run_group_tests(tests, open_input, NULL);
}
