/* The judgements on a host: a tree of its own in place of /proc and /sys. */
#include "examine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "finding.h"
#include "tree.h"

#define CPU "/sys/devices/system/cpu/"

/* The level; anything but good comes with an effect and the next command, in three lines at most.
 */
static enum level check(const struct finding *f) {
    assert_true(strlen(f->found) > 0);
    if (f->level == GOOD) {
        assert_null(f->effect);
        assert_null(f->next);
        return GOOD;
    }
    assert_true(strlen(f->effect) > 0 && strlen(f->effect) < 120);
    assert_true(strcspn(f->next, "#") <= 80 - strlen("         next    "));
    return f->level;
}

static enum level judged(void (*examine)(struct finding *), const char *found) {
    struct finding f = {0};
    examine(&f);
    if (found && !strstr(f.found, found))
        fail_msg("no '%s' in '%s'", found, f.found);
    return check(&f);
}

static void test_governor(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_governor, NULL), UNKNOWN);
    tree_file(CPU "cpu0/cpufreq/scaling_governor", "powersave\n");
    assert_int_equal(judged(examine_governor, "powersave"), WARNING);
    tree_file(CPU "cpu1/cpufreq/scaling_governor", "performance\n");
    assert_int_equal(judged(examine_governor, "mixed"), WARNING);
    tree_file(CPU "cpu0/cpufreq/scaling_governor", "performance\n");
    assert_int_equal(judged(examine_governor, "performance"), GOOD);
    tree_file(CPU "cpu0/cpufreq/scaling_governor", "");
    tree_file(CPU "cpu1/cpufreq/scaling_governor", "");
    assert_int_equal(judged(examine_governor, NULL), UNKNOWN);
}

static void test_turbo(void **unused) {
    struct finding f = {0};
    (void)unused;
    assert_int_equal(judged(examine_turbo, NULL), UNKNOWN);
    tree_file(CPU "cpufreq/boost", "1\n");
    examine_turbo(&f);
    assert_int_equal(check(&f), NOTE);
    assert_non_null(strstr(f.next, "boost"));
    tree_file(CPU "cpufreq/boost", "0\n");
    assert_int_equal(judged(examine_turbo, "off"), GOOD);
    tree_file(CPU "intel_pstate/no_turbo", "0\n");
    examine_turbo(&f);
    assert_int_equal(check(&f), NOTE);
    assert_non_null(strstr(f.next, "no_turbo"));
    tree_file(CPU "intel_pstate/no_turbo", "perhaps\n");
    tree_file(CPU "cpufreq/boost", "\n");
    assert_int_equal(judged(examine_turbo, NULL), UNKNOWN);
}

static void test_thp(void **unused) {
    static const char file[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    (void)unused;
    assert_int_equal(judged(examine_thp, NULL), UNKNOWN);
    tree_file("/sys/kernel/mm/ksm/run", "0\n");
    assert_int_equal(judged(examine_thp, "absent"), GOOD);
    tree_file(file, "[always] madvise never\n");
    assert_int_equal(judged(examine_thp, "always"), NOTE);
    tree_file(file, "always [madvise] never\n");
    assert_int_equal(judged(examine_thp, "madvise"), GOOD);
    tree_file(file, "always madvise never\n");
    assert_int_equal(judged(examine_thp, NULL), UNKNOWN);
}

static void test_overcommit(void **unused) {
    static const char file[] = "/proc/sys/vm/overcommit_memory";
    (void)unused;
    assert_int_equal(judged(examine_overcommit, NULL), UNKNOWN);
    tree_file(file, "2\n");
    assert_int_equal(judged(examine_overcommit, "mode 2"), WARNING);
    tree_file(file, "0\n");
    assert_int_equal(judged(examine_overcommit, "mode 0"), GOOD);
    tree_file(file, "3\n");
    assert_int_equal(judged(examine_overcommit, NULL), UNKNOWN);
}

static void test_swap_and_memory(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_swap, NULL), UNKNOWN);
    assert_int_equal(judged(examine_memory, NULL), UNKNOWN);
    tree_file("/proc/meminfo", "MemAvailable: 9000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    assert_int_equal(judged(examine_swap, "none"), GOOD);
    assert_int_equal(judged(examine_memory, "8.6 GiB"), GOOD);
    tree_file("/proc/meminfo", "MemAvailable: 2097152 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
    assert_int_equal(judged(examine_swap, "1 of 2 MiB"), NOTE);
    assert_int_equal(judged(examine_memory, "2.0 GiB available"), WARNING);
    tree_file("/proc/self/cgroup", "0::/job\n");
    tree_file("/sys/fs/cgroup/job/memory.max", "1073741824\n");
    tree_file("/sys/fs/cgroup/job/memory.current", "0\n");
    assert_int_equal(judged(examine_memory, "1.0 GiB left by the control group"), WARNING);
    tree_file("/proc/meminfo", "SwapTotal: 1 kB\nSwapFree: 2 kB\n");
    assert_int_equal(judged(examine_swap, NULL), UNKNOWN);
}

static void test_quota(void **unused) {
    struct cgroup c = {.version = 2};
    struct finding f;
    (void)unused;
    assert_int_equal(judged(examine_quota, NULL), UNKNOWN);
    tree_file("/proc/self/cgroup", "0::/\n");
    assert_int_equal(judged(examine_quota, "none"), GOOD);
    tree_file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    tree_file("/sys/fs/cgroup/cpu.stat", "nr_periods 200\nnr_throttled 50\n");
    assert_int_equal(judged(examine_quota, "used up in 25 % of all periods"), WARNING);
    tree_file("/sys/fs/cgroup/cpu.max", "lots\n");
    assert_int_equal(judged(examine_quota, "none"), GOOD);
    c.cpus = 8;
    judge_quota(&f, &c, 4);
    assert_int_equal(check(&f), GOOD);
    c.periods = c.throttled = 1;
    judge_quota(&f, &c, 4);
    assert_int_equal(check(&f), WARNING);
}

static void test_pids(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_pids, NULL), UNKNOWN);
    tree_file("/proc/self/cgroup", "3:pids:/job\n0::/\n");
    assert_int_equal(judged(examine_pids, "no limit"), GOOD);
    tree_file("/sys/fs/cgroup/pids/job/pids.max", "100\n");
    tree_file("/sys/fs/cgroup/pids/job/pids.current", "90\n");
    assert_int_equal(judged(examine_pids, "10 more"), WARNING);
    tree_file("/sys/fs/cgroup/pids/job/pids.max", "10000\n");
    assert_int_equal(judged(examine_pids, "9910 more"), GOOD);
}

static void test_limits(void **unused) {
    struct rlimit before, now;
    (void)unused;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    enum level level = judged(examine_limits, "100 descriptors");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(level, GOOD);

    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    now = before;
    now.rlim_cur = UINT64_C(64) << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
    level = judged(examine_limits, "65536 MiB address space");
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(level, WARNING);
}

static void test_noise(void **unused) {
    struct finding f;
    (void)unused;
    judge_steal(&f, -1, 0);
    assert_int_equal(check(&f), UNKNOWN);
    judge_steal(&f, 0.01, 0.001);
    assert_int_equal(check(&f), GOOD);
    judge_steal(&f, 0, 0.05);
    assert_int_equal(check(&f), NOTE);
    judge_steal(&f, 0.2, 0);
    assert_int_equal(check(&f), WARNING);
    judge_others(&f, 0.01);
    assert_int_equal(check(&f), GOOD);
    judge_others(&f, 0.08);
    assert_int_equal(check(&f), NOTE);
    judge_others(&f, 0.5);
    assert_int_equal(check(&f), WARNING);
    /* No clock ticks in this tree: nothing can be told from the sample. */
    noise_sample();
    assert_int_equal(judged(examine_steal, NULL), UNKNOWN);
    assert_int_equal(judged(examine_others, NULL), UNKNOWN);
    tree_file("/proc/stat", "cpu  garbage\n");
    noise_sample();
    assert_int_equal(judged(examine_others, NULL), UNKNOWN);
}

static void test_load(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_load, NULL), UNKNOWN);
    tree_file("/proc/loadavg", "0.02 1.00 3.00 1/99 1234\n");
    assert_int_equal(judged(examine_load, "0.0 on"), GOOD);
    tree_file("/proc/loadavg", "99999.00 1.00 3.00 1/99 1234\n");
    assert_int_equal(judged(examine_load, "99999.0 on"), WARNING);
    tree_file("/proc/loadavg", "heavy\n");
    assert_int_equal(judged(examine_load, NULL), UNKNOWN);
}

static void test_mitigations(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_mitigations, NULL), UNKNOWN);
    tree_file(CPU "vulnerabilities/meltdown", "Not affected\n");
    tree_file(CPU "vulnerabilities/spectre_v2", "Mitigation: Retpolines; IBPB: conditional\n");
    assert_int_equal(judged(examine_mitigations, NULL), GOOD);
    tree_file(CPU "vulnerabilities/meltdown", "Mitigation: PTI\n");
    tree_file(CPU "vulnerabilities/mds", "Mitigation: Clear CPU buffers; SMT vulnerable\n");
    assert_int_equal(judged(examine_mitigations, "against mds, meltdown"), NOTE);
}

static void test_calls(void **unused) {
    struct finding f;
    (void)unused;
    judge_clone3(&f, EINVAL, true);
    assert_int_equal(check(&f), GOOD);
    judge_clone3(&f, ENOSYS, false);
    assert_int_equal(check(&f), WARNING);
    assert_non_null(strstr(f.found, "this kernel does not have it (ENOSYS)"));
    judge_clone3(&f, ENOSYS, true);
    assert_non_null(strstr(f.found, "ENOSYS, by a seccomp filter"));
    judge_clone3(&f, EPERM, false);
    assert_non_null(strstr(f.found, "EPERM, by a seccomp filter"));
    judge_clear_sighand(&f, EFAULT);
    assert_int_equal(check(&f), GOOD);
    judge_clear_sighand(&f, E2BIG);
    assert_int_equal(check(&f), WARNING);
    judge_clear_sighand(&f, ENOSYS);
    assert_int_equal(check(&f), UNKNOWN);
    judge_pidfd(&f, ENOSYS, false);
    assert_int_equal(check(&f), NOTE);
    judge_close_range(&f, EINVAL, true);
    assert_int_equal(check(&f), NOTE);
    assert_non_null(strstr(f.found, "this kernel does not have it"));
}

static void test_seccomp_and_tracing(void **unused) {
    (void)unused;
    assert_int_equal(judged(examine_seccomp, NULL), UNKNOWN);
    assert_int_equal(judged(examine_tracing, NULL), UNKNOWN);
    tree_file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    tree_file("/proc/self/status", "Seccomp:\t2\nSeccomp_filters:\t3\nCapEff:\t0000000000000000\n");
    assert_int_equal(judged(examine_seccomp, "3 filters"), NOTE);
    assert_int_equal(judged(examine_tracing, "perf_event_paranoid -1"), NOTE);
    tree_file("/proc/self/status", "Seccomp:\t0\nCapEff:\t000000c000000000\n");
    assert_int_equal(judged(examine_seccomp, NULL), GOOD);
    assert_int_equal(judged(examine_tracing, "BTF"), NOTE);
    tree_file("/sys/kernel/btf/vmlinux", "");
    assert_int_equal(judged(examine_tracing, "tracefs"), NOTE);
    tree_file("/sys/kernel/tracing/events/enable", "0\n");
    assert_int_equal(judged(examine_tracing, NULL), GOOD);
    tree_file("/proc/self/status", "CapEff:\tmany\n");
    assert_int_equal(judged(examine_tracing, NULL), UNKNOWN);
}

/* The calls themselves, on this very kernel: they make nothing and break nothing. */
static void test_probes_leave_nothing(void **unused) {
    (void)unused;
    static void (*const probes[])(struct finding *) = {examine_clone3, examine_clear_sighand,
                                                       examine_pidfd, examine_close_range};
    struct finding f;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        probes[i](&f);
        check(&f);
    }
}

static void test_all_findings_in_an_empty_tree(void **unused) {
    (void)unused;
    size_t i;
    json_t *one, *findings = examine_host();
    assert_true(json_array_size(findings) >= 20);
    json_array_foreach(findings, i, one) {
        const char *level = json_string_value(json_object_get(one, "level"));
        assert_non_null(json_string_value(json_object_get(one, "name")));
        assert_non_null(json_string_value(json_object_get(one, "found")));
        assert_int_equal(strcmp(level, "good") == 0, json_object_get(one, "next") == NULL);
        assert_int_equal(strcmp(level, "good") == 0, json_object_get(one, "effect") == NULL);
    }
    json_decref(findings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_TREE(test_governor),
        IN_TREE(test_turbo),
        IN_TREE(test_thp),
        IN_TREE(test_overcommit),
        IN_TREE(test_swap_and_memory),
        IN_TREE(test_quota),
        IN_TREE(test_pids),
        IN_TREE(test_limits),
        IN_TREE(test_noise),
        IN_TREE(test_load),
        IN_TREE(test_mitigations),
        IN_TREE(test_calls),
        IN_TREE(test_seccomp_and_tracing),
        IN_TREE(test_probes_leave_nothing),
        IN_TREE(test_all_findings_in_an_empty_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
