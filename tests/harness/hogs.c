#include "hogs.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <forkless.h>

static size_t cpus(void) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return (size_t)CPU_COUNT(&set);
}

static void assert_no_child(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_one_on_each_cpu(void **unused) {
    struct hogs hogs;
    cpu_set_t all, seen;
    (void)unused;
    CPU_ZERO(&all);
    assert_int_equal(hogs_start(&hogs, LOAD_ALL), 0);
    assert_int_equal(hogs.count, cpus());
    assert_true(hogs_run(&hogs));
    for (size_t i = 0; i < hogs.count; i++) {
        pid_t pid = forkless_pid(hogs.list[i]);
        assert_int_equal(sched_getaffinity(pid, sizeof seen, &seen), 0);
        assert_int_equal(CPU_COUNT(&seen), 1);
        CPU_OR(&all, &all, &seen);
        assert_int_equal(getpgid(pid), pid);
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), getpriority(PRIO_PROCESS, 0));
    }
    assert_int_equal(CPU_COUNT(&all), cpus());
    hogs_end(&hogs);
    assert_no_child();
}

/* What they used counts as ours, not as other programs'. */
static void test_their_time_is_their_parent_s(void **unused) {
    struct hogs hogs;
    struct rusage before, after;
    (void)unused;
    getrusage(RUSAGE_CHILDREN, &before);
    assert_int_equal(hogs_start(&hogs, LOAD_ALL), 0);
    hogs_end(&hogs);
    getrusage(RUSAGE_CHILDREN, &after);
    assert_true(timercmp(&after.ru_utime, &before.ru_utime, >) ||
                timercmp(&after.ru_stime, &before.ru_stime, >));
}

static void test_all_but_the_first_cpu(void **unused) {
    struct hogs hogs;
    cpu_set_t mine, seen;
    size_t first = 0;
    (void)unused;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(first, &mine))
        first++;
    assert_int_equal(hogs_start(&hogs, LOAD_OTHERS), 0);
    assert_int_equal(hogs.count, cpus() - 1);
    for (size_t i = 0; i < hogs.count; i++) {
        assert_int_equal(sched_getaffinity(forkless_pid(hogs.list[i]), sizeof seen, &seen), 0);
        assert_false(CPU_ISSET(first, &seen));
    }
    hogs_end(&hogs);
    assert_no_child();
}

static void test_one_that_ends_is_noticed(void **unused) {
    struct hogs hogs;
    (void)unused;
    assert_int_equal(hogs_start(&hogs, LOAD_ALL), 0);
    kill(forkless_pid(hogs.list[0]), SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)forkless_pid(hogs.list[0]), &info, WEXITED | WNOWAIT), 0);
    assert_false(hogs_run(&hogs));
    hogs_end(&hogs);
    assert_no_child();
}

static void test_none(void **unused) {
    struct hogs hogs;
    (void)unused;
    assert_int_equal(hogs_start(&hogs, LOAD_IDLE), 0);
    assert_int_equal(hogs.count, 0);
    assert_true(hogs_run(&hogs));
    hogs_end(&hogs);
    assert_no_child();
}

/* No process may be made: nothing is left. */
static void test_one_that_cannot_be_started(void **unused) {
    struct hogs hogs;
    (void)unused;
    struct rlimit limit, none = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none.rlim_max = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0); /* nor a descriptor */
    int rc = hogs_start(&hogs, LOAD_ALL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(rc < 0);
    assert_int_equal(hogs.count, 0);
    assert_no_child();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_on_each_cpu),
        cmocka_unit_test(test_their_time_is_their_parent_s),
        cmocka_unit_test(test_all_but_the_first_cpu),
        cmocka_unit_test(test_one_that_ends_is_noticed),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_one_that_cannot_be_started),
    };
    if (argc == 2 && strcmp(argv[1], "--hog") == 0)
        hog_main();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
