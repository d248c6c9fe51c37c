/* What the limits of a host, a tree of its own in place of /proc and /sys, say of a cell. */
#include "allowed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ballast.h"
#include "tree.h"

static char why[512];

static struct cell cell_of(uint64_t pages, uint64_t rss, uint64_t mappings) {
    struct cell cell = cell_default;
    cell.strategy = &strategy_vfork;
    cell.ballast = (struct ballast){.rss = rss, .pages = pages, .mappings = mappings};
    return cell;
}

static bool allowed(struct cell cell) {
    why[0] = '\0';
    return cell_allowed(&cell, why, sizeof why);
}

static void test_what_asks_for_nothing_is_allowed(void **unused) {
    (void)unused;
    tree_file("/proc/sys/vm/max_map_count", "16\n");
    assert_true(allowed(cell_of(PAGES_4K, 1 << 30, 0)));
    assert_string_equal(why, "");
}

static void test_mappings(void **unused) {
    (void)unused;
    assert_true(allowed(cell_of(PAGES_4K, 0, 50000))); /* where the kernel does not say */
    tree_file("/proc/sys/vm/max_map_count", "30000\n");
    assert_true(allowed(cell_of(PAGES_4K, 0, 29000)));
    assert_false(allowed(cell_of(PAGES_4K, 0, 30000)));
    assert_string_equal(why, "needs 30512 mappings, and 30000 are allowed: "
                             "sudo sysctl vm.max_map_count=30512");
    tree_file("/proc/sys/vm/max_map_count", "600\n");
    assert_true(allowed(cell_of(PAGES_SIMULATED, UINT64_C(64) << 30, 0)));
    assert_false(allowed(cell_of(PAGES_SIMULATED, UINT64_C(1) << 40, 0)));
    assert_string_equal(why, "needs 1536 mappings, and 600 are allowed: "
                             "sudo sysctl vm.max_map_count=1536");
}

/* What is allowed is also what is found to be right. */
static void test_mappings_of_simulated_memory(void **unused) {
    const uint64_t rss = UINT64_C(1) << 40;
    const struct ballast ballast = {.rss = rss, .pages = PAGES_SIMULATED, .mappings = 10};
    struct resident found = {.rss = rss, .page_tables = rss / 512, .mappings = 10 + 1024 + 40};
    (void)unused;
    assert_null(ballast_verify(&ballast, &found, why, sizeof why));
    found.mappings = 10 + 1023;
    assert_string_equal(ballast_verify(&ballast, &found, why, sizeof why),
                        "the block has 1033 mappings, not 1034");
}

static void test_transparent_huge_pages(void **unused) {
    static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    (void)unused;
    assert_false(allowed(cell_of(PAGES_THP, 2 << 20, 0)));
    assert_string_equal(why, "this kernel has no transparent huge pages");
    tree_file(path, "always madvise [never]\n");
    assert_false(allowed(cell_of(PAGES_THP, 2 << 20, 0)));
    assert_string_equal(why, "huge pages are off: echo madvise | sudo tee "
                             "/sys/kernel/mm/transparent_hugepage/enabled");
    tree_file(path, "always [madvise] never\n");
    assert_true(allowed(cell_of(PAGES_THP, 2 << 20, 0)));
}

static void test_reserved_huge_pages(void **unused) {
    (void)unused;
    assert_false(allowed(cell_of(PAGES_HUGETLB, 8 << 20, 0)));
    assert_string_equal(why, "this kernel has no huge pages to reserve");
    tree_file("/proc/meminfo",
              "HugePages_Total:       5\nHugePages_Free:        4\nHugePages_Rsvd:        1\n"
              "Hugepagesize:       2048 kB\n");
    assert_true(allowed(cell_of(PAGES_HUGETLB, 6 << 20, 0)));
    assert_false(allowed(cell_of(PAGES_HUGETLB, 8 << 20, 0)));
    assert_string_equal(why, "needs 4 huge pages, and 3 are reserved and free: "
                             "sudo sysctl vm.nr_hugepages=6");
}

static void test_processes(void **unused) {
    struct cell cell = cell_of(PAGES_4K, 0, 0);
    (void)unused;
    tree_file("/proc/self/cgroup", "0::/a\n");
    tree_file("/sys/fs/cgroup/a/pids.max", "100\n");
    tree_file("/sys/fs/cgroup/a/pids.current", "10\n");
    tree_file("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    cell.at_once = 64;
    assert_true(allowed(cell));
    cell.at_once = 1024;
    assert_false(allowed(cell));
    assert_string_equal(why, "needs 1041 processes, and the control group leaves 90: "
                             "echo 1051 | sudo tee /sys/fs/cgroup/a/pids.max");
    cell.at_once = 30;
    cell.commands = 100;
    cell.strategy = &strategy_limit; /* loops as many again */
    assert_true(allowed(cell));
    cell.at_once = 50;
    assert_false(allowed(cell));
    assert_string_equal(why, "needs 117 processes, and the control group leaves 90: "
                             "echo 127 | sudo tee /sys/fs/cgroup/a/pids.max");
}

static void test_victims(void **unused) {
    struct cell cell = cell_of(PAGES_4K, 0, 0);
    (void)unused;
    cell.victim = VICTIM_SPINNER;
    assert_false(allowed(cell));
    assert_string_equal(why, "needs /proc/self/schedstat: the kernel has to be built with "
                             "CONFIG_SCHED_INFO");
    tree_file("/proc/self/schedstat", "1 2 3\n");
    assert_true(allowed(cell));
}

/* Which of the two is said depends on the build. */
static void test_tracers(void **unused) {
    struct cell cell = cell_of(PAGES_4K, 0, 0);
    (void)unused;
    tree_file("/proc/self/status", "CapEff:\t0000000000000000\n");
    for (cell.ballast.traced = TRACED_PHASES; cell.ballast.traced <= TRACED_SPAWNS;
         cell.ballast.traced++) {
        assert_false(allowed(cell));
        if (strstr(why, "forkless-"))
            assert_non_null(strstr(why, ", which this build does not have"));
        else
            assert_string_equal(why, "needs CAP_BPF and CAP_PERFMON: run it as root");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_TREE(test_what_asks_for_nothing_is_allowed),
        IN_TREE(test_mappings),
        IN_TREE(test_mappings_of_simulated_memory),
        IN_TREE(test_transparent_huge_pages),
        IN_TREE(test_reserved_huge_pages),
        IN_TREE(test_processes),
        IN_TREE(test_victims),
        IN_TREE(test_tracers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
