#include "after.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "ballast.h"
#include "clock.h"
#include "files.h"
#include "targets/target.h"

enum { PAGE = 4096, PAGES = 1009, IN_CALL = 7, IN_REAPING = 11 };

static const struct request waiter = {.target = "targets/waiter", .children = 1};
static struct after after;
static struct born born;
static int stamps[2], output, nothing; /* the test's own; an input without a byte */

/* cmocka writes there too. */
static void take_turn(struct turn *turn) {
    fflush(stdout);
    assert_int_equal(dup2(stamps[1], STDOUT_FILENO), STDOUT_FILENO);
    turn_take(turn);
    assert_int_equal(dup2(output, STDOUT_FILENO), STDOUT_FILENO);
}

/* A sample, as sample_take() makes one, in which the child must do well. */
static struct aftermath take(const struct strategy *strategy, bool is_living) {
    struct turn turn = {.strategy = strategy, .want = strategy->body ? 1 : 0, .born = &born};
    target_stamp first = 0;
    after.is_living = is_living;
    after.stamps = stamps[0];
    after_begin(&after, &turn);
    take_turn(&turn);
    assert_string_equal(turn.problem, "");
    if (turn.want) {
        assert_int_equal(read(stamps[0], &first, sizeof first), sizeof first);
        assert_true((int64_t)first >= turn.called && (int64_t)first <= turn.reaped);
    }
    return after_end(&after, &turn);
}

static int open_all(void **state) {
    (void)state;
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return output < 0 || nothing < 0 || pipe2(stamps, O_CLOEXEC | O_NONBLOCK) < 0 ||
           after_prepare(&after) < 0 || ballast_make(&(struct ballast){.rss = PAGES * PAGE}) < 0;
}

static void a_worker_that_lives_makes_a_fault_of_each_page(void **state) {
    (void)state;
    assert_int_equal(strategy_fork_only.prepare(&waiter), 0);
    for (int i = 0; i < 5; i++) {
        struct aftermath found = take(&strategy_fork_only, true);
#ifdef __SANITIZE_ADDRESS__
        assert_true(found.faults >= PAGES); /* and of its own memory, which is copied too */
#else
        assert_int_equal(found.faults, PAGES);
#endif
        assert_true(found.time > 0 && found.teardown > 0);
        assert_true(found.page_tables >= 2 * (PAGES / 512) * PAGE);
        assert_true(found.peak >= 2 * PAGES * PAGE); /* each has its own by then */
    }
}

static void without_a_child_there_is_none(void **state) {
    (void)state;
    for (int living = 0; living < 2; living++) {
        struct aftermath found = take(&strategy_null, living);
        assert_int_equal(found.faults, 0);
        assert_int_equal(found.teardown, 0);
        assert_true(found.time > 0);
    }
}

static void sleep_times(int times) {
    for (int i = 0; i < times; i++) {
        struct timespec t = {.tv_nsec = 2000000};
        nanosleep(&t, NULL);
    }
}

static int call(struct born *child) {
    int rc = strategy_fork_only.body(child);
    sleep_times(IN_CALL);
    return rc;
}

/* The child is dead by then, so that to wait for it is no switch. */
static int reap(struct born *child, struct ended *ended) {
    sleep_times(IN_REAPING);
    return strategy_fork_only.finish(child, ended);
}

static void switches_of_the_calls_are_counted_and_no_others(void **state) {
    (void)state;
    const struct strategy sleepy = {.name = "sleepy", .body = call, .finish = reap};
    assert_int_equal(strategy_fork_only.prepare(&waiter), 0);
    for (int living = 0; living < 2; living++)
        assert_int_equal(take(&sleepy, living).switches, IN_CALL + IN_REAPING);
}

static int die(struct born *child) {
    child->pid = fork();
    if (child->pid == 0)
        _exit(127);
    return 0;
}

static int refuse(struct born *child) {
    (void)child;
    return -ENOSYS;
}

static void a_child_that_never_lives_is_not_waited_for(void **state) {
    (void)state;
    const struct strategy fatal = {.name = "f", .body = die, .finish = strategy_fork_only.finish};
    const struct strategy refused = {.name = "r", .body = refuse};
    const struct strategy *const both[] = {&fatal, &refused};
    for (int i = 0; i < 2; i++) {
        struct turn turn = {.strategy = both[i], .want = 1, .born = &born};
        after_begin(&after, &turn);
        take_turn(&turn);
        assert_string_not_equal(turn.problem, "");
        char left;
        assert_int_equal(fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK), 0);
        assert_int_equal(read(STDIN_FILENO, &left, 1), i == 0 ? 1 : -1);
        assert_int_equal(fcntl(STDIN_FILENO, F_SETFL, 0), 0);
    }
}

/* As if each child had read the end of its input. */
static int start_ending(struct born *child) {
    siginfo_t info;
    int input = dup(STDIN_FILENO);
    assert_int_equal(dup2(nothing, STDIN_FILENO), STDIN_FILENO);
    int rc = strategy_fork_only.body(child);
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
    return rc < 0 || waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) == 0 ? rc : -errno;
}

static void a_child_that_ends_before_it_is_told_fails_the_sample(void **state) {
    (void)state;
    const struct strategy hasty = {
        .name = "hasty", .body = start_ending, .finish = strategy_fork_only.finish};
    assert_int_equal(strategy_fork_only.prepare(&waiter), 0);
    for (int living = 0; living < 2; living++) {
        struct turn turn = {.strategy = &hasty, .want = 1, .born = &born};
        target_stamp stamp;
        char left;
        after.is_living = living;
        after_begin(&after, &turn);
        take_turn(&turn);
        assert_string_equal(turn.problem, "");
        after_end(&after, &turn);
        assert_string_equal(turn.problem, "the child ended before it was told to");
        while (read(stamps[0], &stamp, sizeof stamp) > 0)
            continue;
        assert_int_equal(read(STDIN_FILENO, &left, 1), 1);
    }
}

static void memory_that_cannot_be_read_fails_the_sample(void **state) {
    (void)state;
    files_root = "/none";
    struct turn turn = {.strategy = &strategy_null, .born = &born};
    after.is_living = true;
    after_begin(&after, &turn);
    take_turn(&turn);
    files_root = "";
    after_end(&after, &turn);
    assert_string_equal(turn.problem, "the memory of parent and child could not be read");
}

static void without_descriptors_nothing_is_left(void **state) {
    (void)state;
    struct rlimit limit, none;
    struct after other;
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    for (int spare = 0; spare < 3; spare++) {
        none.rlim_cur = (rlim_t)(next + spare);
        setrlimit(RLIMIT_NOFILE, &none);
        assert_int_equal(after_prepare(&other), -EMFILE);
        setrlimit(RLIMIT_NOFILE, &limit);
        int again = dup(0);
        assert_int_equal(again, next);
        close(again);
    }
}

static int close_all(void **state) {
    (void)state;
    after_cleanup(&after);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_lives_makes_a_fault_of_each_page),
        cmocka_unit_test(without_a_child_there_is_none),
        cmocka_unit_test(switches_of_the_calls_are_counted_and_no_others),
        cmocka_unit_test(a_child_that_never_lives_is_not_waited_for),
        cmocka_unit_test(a_child_that_ends_before_it_is_told_fails_the_sample),
        cmocka_unit_test(memory_that_cannot_be_read_fails_the_sample),
        cmocka_unit_test(without_descriptors_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
