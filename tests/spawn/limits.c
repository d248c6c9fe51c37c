/* Limits of the process and of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* ---- B38: few descriptors left ---- */

/* Fills the table, then leaves `spare` numbers free. */
static void leave_descriptors(int spare) {
    struct rlimit limit = {700, 700};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (dup(0) >= 0)
        ;
    CHECK_EQ(errno, EMFILE);
    for (int fd = 100; fd < 100 + spare; fd++)
        CHECK_EQ(close(fd), 0);
}

static long size_of(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 ? s.st_size : 0;
}

static void with_spare(int spare, const char *marker) {
    leave_descriptors(spare);
    forkless_command *c = probe("touch", marker, NULL), *pauses = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_status status;
        long before = size_of(marker);
        forkless_child *child = launched(launchers[l], c);
        int fd = forkless_pidfd(child);
        CHECK(spare ? fd >= 0 : fd == -EMFILE);
        CHECK_EQ(forkless_wait(child, from_now(15000), &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_EXITED);
        CHECK_EQ(status.code, 0);
        forkless_child_free(child);
        CHECK_EQ(size_of(marker), before + 1); /* once */
        child = launched(launchers[l], pauses);
        CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, 9);
    }
    forkless_command_free(c);
    forkless_command_free(pauses);
}

TEST(b38_few_descriptors) {
    char marker[] = "/tmp/spawn-test-XXXXXX";
    int file = mkstemp(marker);
    CHECK(file >= 0);
    close(file);
    for (int spare = 0; spare <= 6; spare++)
        with_spare(spare, marker);
    unlink(marker);
}

/* To swap takes one more for a moment. The child of a held caller has it: it closes before it
 * copies. */
TEST(b38_swap_with_a_full_table) {
    leave_descriptors(0);
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_fd(c, 0, 1), 0);
    CHECK_EQ(forkless_command_fd(c, 1, 0), 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    fails(forkless_start, c, -EMFILE, FORKLESS_STEP_DESCRIPTOR, 1);
    check_no_child();
    close(100);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* ---- B50, B52: arguments and environment ---- */

static void strings(size_t size, bool in_environment, int code) {
    char *text = malloc(size + 1);
    memset(text, '1', size);
    memcpy(text, "A=", 2);
    text[size] = '\0';
    forkless_command *c = probe("exit", "7", NULL);
    if (in_environment)
        CHECK_EQ(forkless_command_env(c, (char *[]){text, NULL}), 0);
    else
        CHECK_EQ(forkless_command_arg(c, text), 0);
    free(text);
    for (int l = 0; l < 2; l++)
        if (code)
            fails(launchers[l], c, code, FORKLESS_STEP_EXEC, -1);
        else
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* 32 pages for a string, with its end. */
TEST(b50_the_longest_string) {
    size_t most = 32 * (size_t)sysconf(_SC_PAGESIZE);
    for (int in_environment = 0; in_environment < 2; in_environment++) {
        strings(most - 1, in_environment, 0);
        strings(most, in_environment, -E2BIG);
    }
    check_no_child();
}

static void many_arguments(int n, int code) {
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_env(c, (char *[]){NULL}), 0);
    for (int i = 0; i < n; i++)
        CHECK_EQ(forkless_command_arg(c, "x"), 0);
    for (int l = 0; l < 2; l++)
        if (code)
            fails(launchers[l], c, code, FORKLESS_STEP_EXEC, -1);
        else
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(b50_many_arguments) {
    const struct rlimit stack = {8 << 20, 8 << 20};
    CHECK_EQ(setrlimit(RLIMIT_STACK, &stack), 0);
    many_arguments(10000, 0);
    many_arguments(150000, 0);
    many_arguments(260000, -E2BIG); /* a quarter of the stack, at ten bytes each */
    many_arguments(1000000, -E2BIG);
    check_no_child();
}

/* There is always an argument 0, and an empty one is an argument. */
TEST(b52_argument_zero) {
    static struct seen seen;
    struct show s = show_new();
    CHECK_EQ(forkless_command_arg(s.command, ""), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(seen_line(&seen, "arg " PROBE));
    CHECK(seen_line(&seen, "arg "));
}

/* ---- B98: no memory for the child's stack ---- */

TEST(b98_no_address_space) {
    static struct snapshot before;
    if (sanitized())
        skip_test("sanitizers need address space");
    forkless_command *c = probe("exit", "7", NULL);
    struct rlimit old, none;
    CHECK_EQ(getrlimit(RLIMIT_AS, &old), 0);
    none = (struct rlimit){1 << 20, old.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    snapshot_take(&before);
    errno = 12345;
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENOMEM, FORKLESS_STEP_SLOT, -1);
    CHECK_EQ(errno, 12345);
    snapshot_check(&before);
    CHECK_EQ(setrlimit(RLIMIT_AS, &old), 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    /* From here on it takes none: what the parent has counts for nothing. */
    CHECK_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    size_t size = (size_t)512 << 20;
    CHECK(mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

/* ---- a limit of file sizes is no signal that dumps shared memory ---- */

static void memory_beyond_the_limit(const struct route *r) {
    static struct snapshot before;
    const struct rlimit small = {2, 2};
    for (int inherits = 0; inherits < 2; inherits++) {
        forkless_command *c = probe("exit", "7", NULL);
        CHECK_EQ(forkless_command_memory(c, 0, "hello", 5), 0);
        if (inherits)
            CHECK_EQ(forkless_command_mask(c, NULL), 0);
        pid_t pid = forked();
        if (pid == 0) {
            ends(launched_so(r, c), FORKLESS_EXITED, 7);
            CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
            snapshot_take(&before);
            fails(r->launch, c, -EFBIG, FORKLESS_STEP_MEMORY, 0);
            snapshot_check(&before);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        forkless_command_free(c);
    }
}

TEST(memory_beyond_the_limit_of_files) {
    on_each_route(memory_beyond_the_limit);
}

/* Which it would be without a mask of its own: the caller's is the child's again. */
static void inherits_its_mask(const struct route *r) {
    static struct seen seen;
    struct show s = show_new();
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    CHECK_EQ(forkless_command_memory(s.command, 0, "hello", 5), 0);
    CHECK_EQ(forkless_command_mask(s.command, NULL), 0);
    show_run(&s, r->launch, &seen);
    CHECK_EQ(seen.blocked, 1ul << (SIGUSR2 - 1));
}

TEST(memory_leaves_the_mask) {
    on_each_route(inherits_its_mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b38_few_descriptors),
        cmocka_unit_test(b38_swap_with_a_full_table),
        cmocka_unit_test(b50_the_longest_string),
        cmocka_unit_test(b50_many_arguments),
        cmocka_unit_test(b52_argument_zero),
        cmocka_unit_test(b98_no_address_space),
        cmocka_unit_test(memory_beyond_the_limit_of_files),
        cmocka_unit_test(memory_leaves_the_mask),
    };
    return RUN(tests);
}
