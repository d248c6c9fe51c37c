/* What host_describe() makes of a tree of its own in place of /proc and /sys. */
#include "host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cgroup.h"
#include "memory.h"
#include "tree.h"

static json_t *field(json_t *host, const char *key) {
    return json_object_get(host, key);
}

static void test_a_tree_without_files_has_no_fields(void **unused) {
    static const char *const keys[] = {"thp",      "overcommit", "swap",  "clocksource",
                                       "governor", "turbo",      "cgroup"};
    (void)unused;
    json_t *host = host_describe();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_null(field(host, keys[i]));
    assert_int_equal(json_object_size(field(host, "mitigations")), 0);
    assert_true(json_integer_value(field(host, "cpus")) >= 1);
    json_decref(host);
}

static void test_settings(void **unused) {
    (void)unused;
    tree_file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    tree_file("/proc/sys/vm/overcommit_memory", "2\n");
    tree_file("/proc/meminfo", "MemTotal: 8 kB\nMemAvailable:  4 kB\nSwapTotal:    2 kB\n");
    tree_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    tree_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree_file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    tree_file("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    tree_file("/proc/cpuinfo", "model\t\t: 2\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n");
    json_t *host = host_describe();
    assert_string_equal(json_string_value(field(host, "thp")), "madvise");
    assert_int_equal(json_integer_value(field(host, "overcommit")), 2);
    assert_int_equal(json_integer_value(field(host, "swap")), 2048);
    assert_string_equal(json_string_value(field(host, "clocksource")), "tsc");
    assert_string_equal(json_string_value(field(host, "governor")), "performance");
    assert_true(json_is_false(field(host, "turbo")));
    assert_string_equal(json_string_value(field(host, "cpu")), "Some CPU");
    assert_true(json_is_true(field(host, "virtual")));
    assert_string_equal(json_string_value(field(field(host, "mitigations"), "meltdown")),
                        "Mitigation: PTI");
    json_decref(host);
}

static void test_governors_that_differ_are_mixed(void **unused) {
    (void)unused;
    tree_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree_file("/sys/devices/system/cpu/cpu12/cpufreq/scaling_governor", "powersave\n");
    json_t *host = host_describe();
    assert_string_equal(json_string_value(field(host, "governor")), "mixed");
    json_decref(host);
}

static void test_garbage_is_left_out(void **unused) {
    static const char *const keys[] = {"thp", "overcommit", "swap", "turbo", "clocksource"};
    (void)unused;
    tree_file("/sys/kernel/mm/transparent_hugepage/enabled", "[sometimes]\n");
    tree_file("/proc/sys/vm/overcommit_memory", "2x\n");
    tree_file("/proc/meminfo", "SwapTotal: -1 kB\nMemAvailable: many\n");
    tree_file("/sys/devices/system/cpu/cpufreq/boost", "7\n");
    tree_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "\xff\xfe\n");
    json_t *host = host_describe();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_null(field(host, keys[i]));
    json_decref(host);
}

static void test_a_unified_hierarchy_leaves_the_least_of_all_levels(void **unused) {
    struct cgroup c;
    (void)unused;
    tree_file("/proc/self/cgroup", "0::/outer/inner\n");
    tree_file("/sys/fs/cgroup/outer/memory.max", "1000\n");
    tree_file("/sys/fs/cgroup/outer/memory.current", "900\n");
    tree_file("/sys/fs/cgroup/outer/memory.stat", "file 500\ninactive_file 300\n");
    tree_file("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    tree_file("/sys/fs/cgroup/outer/inner/memory.current", "10\n");
    tree_file("/sys/fs/cgroup/outer/cpu.max", "50000 100000\n");
    tree_file("/sys/fs/cgroup/outer/cpu.stat", "usage_usec 9\nnr_periods 8\nnr_throttled 2\n");
    tree_file("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    tree_file("/sys/fs/cgroup/outer/pids.max", "max\n");
    tree_file("/sys/fs/cgroup/outer/inner/pids.max", "20\n");
    tree_file("/sys/fs/cgroup/outer/inner/pids.current", "25\n");
    assert_true(cgroup_read(&c));
    assert_int_equal(c.version, 2);
    assert_int_equal(c.memory, 400);
    assert_true(c.cpus == 0.5);
    assert_int_equal(c.periods, 8);
    assert_int_equal(c.throttled, 2);
    assert_int_equal(c.pids, 0);
}

static void test_a_hybrid_hierarchy_is_version_1(void **unused) {
    struct cgroup c;
    (void)unused;
    tree_file("/proc/self/cgroup", "9:name=systemd:/\n5:memory:/job\n3:cpu,cpuacct:/job\n0::/\n");
    tree_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    tree_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n");
    tree_file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
    tree_file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000\n");
    tree_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    tree_file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    tree_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    tree_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_true(cgroup_read(&c));
    assert_int_equal(c.version, 1);
    assert_int_equal(c.memory, 3000);
    assert_true(c.cpus == 1.5);
    assert_true(c.pids == CGROUP_UNLIMITED);
}

static void test_a_group_that_is_out_of_sight(void **unused) {
    struct cgroup c;
    (void)unused;
    tree_file("/proc/self/cgroup", "4:memory:/docker/0123\n");
    tree_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n");
    tree_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
    tree_file("/proc/meminfo", "MemAvailable: 6 kB\n");
    assert_true(cgroup_read(&c));
    assert_int_equal(c.memory, 5000);
    assert_int_equal(memory_available(), 5000);
}

static void test_the_least_memory_may_be_the_machines(void **unused) {
    (void)unused;
    tree_file("/proc/self/cgroup", "0::/\n");
    tree_file("/proc/meminfo", "MemFree: 1 kB\nMemAvailable: 6 kB\n");
    assert_int_equal(memory_available(), 6144);
}

static void test_cpu_time(void **unused) {
    (void)unused;
    tree_file("/proc/stat", "cpu  10 20 30 400 50 6 7 80 9 9\ncpu0 1 2 3 4\n");
    struct cpu_time time = cpu_time_read();
    assert_int_equal(time.all, 603);
    assert_int_equal(time.used, 73);
    assert_int_equal(time.stolen, 80);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_TREE(test_a_tree_without_files_has_no_fields),
        IN_TREE(test_settings),
        IN_TREE(test_governors_that_differ_are_mixed),
        IN_TREE(test_garbage_is_left_out),
        IN_TREE(test_a_unified_hierarchy_leaves_the_least_of_all_levels),
        IN_TREE(test_a_hybrid_hierarchy_is_version_1),
        IN_TREE(test_a_group_that_is_out_of_sight),
        IN_TREE(test_the_least_memory_may_be_the_machines),
        IN_TREE(test_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
