/* The facts of a process, from a tree in place of /proc: what no real process would hold still for.
 */
#include "process.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tree.h"

#define MEMORY                                                                                     \
    "VmRSS:\t  3000 kB\nRssAnon:\t  2000 kB\nVmPTE:\t  40 kB\nVmSwap:\t 5 kB\nThreads:\t3\n"
#define HEAD "Name:\tsome (name) 1\nState:\tS (sleeping)\nTgid:\t7\n"
#define STAT "7 (some (name) 1) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 8888 1 2\n"

static char reason[256];

static void a_process(void) {
    tree_file("/proc/7/status", HEAD MEMORY);
    tree_file("/proc/7/stat", STAT);
    tree_file("/proc/7/maps", "one\ntwo\n");
    tree_file("/proc/7/smaps_rollup", "Rss:  3000 kB\nAnonHugePages:   1024 kB\n");
    tree_file("/proc/7/fd/0", "");
    tree_file("/proc/7/fd/12", "");
}

static void test_facts(void **unused) {
    struct process p;
    (void)unused;
    a_process();
    assert_null(process_read(7, &p, reason, sizeof reason));
    assert_string_equal(p.name, "some (name) 1");
    assert_int_equal(p.rss, 3000 << 10);
    assert_int_equal(p.anonymous, 2000 << 10);
    assert_int_equal(p.huge.value, 1024 << 10);
    assert_int_equal(p.swapped, 5 << 10);
    assert_int_equal(p.page_tables, 40 << 10);
    assert_int_equal(p.threads, 3);
    assert_int_equal(p.mappings.value, 2);
    assert_int_equal(p.descriptors.value, 2);
    assert_int_equal(process_small_pages(&p), 976 << 10);
}

static void test_what_cannot_be_read_is_unknown(void **unused) {
    struct process p;
    (void)unused;
    tree_file("/proc/7/status", HEAD MEMORY);
    tree_file("/proc/7/stat", STAT);
    tree_file("/proc/7/smaps_rollup", "garbage\n");
    assert_null(process_read(7, &p, reason, sizeof reason));
    assert_int_equal(p.huge.why, ENODATA);
    assert_int_equal(p.mappings.why, ENOENT);
    assert_int_equal(p.descriptors.why, ENOENT);
    assert_int_equal(process_small_pages(&p), p.anonymous);
    json_t *described = process_describe(&p);
    assert_true(json_is_null(json_object_get(described, "huge")));
    assert_true(json_is_null(json_object_get(described, "mappings")));
    assert_int_equal(json_integer_value(json_object_get(described, "rss")), 3000 << 10);
    json_t *unknown = json_object_get(described, "unknown");
    assert_int_equal(json_object_size(unknown), 3);
    assert_string_equal(json_string_value(json_object_get(unknown, "mappings")), strerror(ENOENT));
    json_decref(described);
}

static void refused(const char *expected) {
    struct process p;
    const char *said = process_read(7, &p, reason, sizeof reason);
    assert_non_null(said);
    assert_string_equal(said, expected);
}

static void test_what_is_no_process(void **unused) {
    (void)unused;
    refused("there is no process 7");
    tree_file("/proc/7/stat", STAT);
    tree_file("/proc/7/status", "Name:\tgone\nState:\tZ (zombie)\nTgid:\t7\nThreads:\t1\n");
    refused("process 7 has ended and waits for its parent (a zombie)");
    tree_file("/proc/7/status", "Name:\tgone\nState:\tS (sleeping)\nTgid:\t5\n" MEMORY);
    refused("7 is a thread of process 5");
    tree_file("/proc/7/status", "Name:\tkthread\nState:\tS (sleeping)\nTgid:\t7\nThreads:\t1\n");
    tree_file("/proc/7/stat", "7 (kthread) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n");
    refused("process 7 is a thread of the kernel: it has no memory of its own");
}

static void test_what_vanishes_while_it_is_read(void **unused) {
    (void)unused;
    tree_file("/proc/7/status", "Name:\tgoing\nState:\tR (running)\nTgid:\t7\nThreads:\t1\n");
    tree_file("/proc/7/stat", STAT);
    refused("process 7 ended while it was read");
    tree_file("/proc/7/status", "");
    refused("process 7 ended while it was read");
}

static void test_a_name_is_made_printable(void **unused) {
    struct process p;
    (void)unused;
    tree_file("/proc/7/status", "Name:\t\x1b[31mred\xff\nState:\tS\nTgid:\t7\n" MEMORY);
    tree_file("/proc/7/stat", STAT);
    assert_null(process_read(7, &p, reason, sizeof reason));
    assert_string_equal(p.name, "?[31mred?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_TREE(test_facts),
        IN_TREE(test_what_cannot_be_read_is_unknown),
        IN_TREE(test_what_is_no_process),
        IN_TREE(test_what_vanishes_while_it_is_read),
        IN_TREE(test_a_name_is_made_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
