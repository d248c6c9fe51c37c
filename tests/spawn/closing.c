/* Every other descriptor is closed at exec, whatever the kernel refuses. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "others.h"
#include "support.h"

static struct seen seen;

/* ---- B18: nobody else's child holds a pipe ---- */

static void *feed_cats(void *launch) {
    forkless_status status;
    for (int i = 0; i < count(20000) / 16; i++) {
        int pipes[2];
        CHECK_EQ(pipe2(pipes, O_CLOEXEC), 0);
        forkless_command *c = probe("cat", NULL);
        CHECK_EQ(forkless_command_fd(c, 0, pipes[0]), 0);
        forkless_child *cat = launched(*(launcher **)launch, c);
        forkless_command_free(c);
        close(pipes[0]);
        close(pipes[1]);
        CHECK_EQ(forkless_wait(cat, from_now(15000), &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_EXITED);
        CHECK_EQ(status.code, 0);
        forkless_child_free(cat);
    }
    return NULL;
}

TEST(b18_no_child_keeps_a_pipe) {
    pthread_t threads[16], forks = thread(fork_and_system, NULL);
    for (int i = 0; i < 16; i++)
        threads[i] = thread(feed_cats, (void *)&launchers[i % 2]);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    done = true;
    CHECK_EQ(pthread_join(forks, NULL), 0);
    check_no_child();
}

/* ---- what close_range answers ---- */

static void open_many(int n) {
    for (int i = 0; i < n; i++)
        CHECK(memfd_create("other", 0) >= 0);
}

static void check_three_and_a_map(launcher *launch) {
    struct show s = show_new();
    CHECK_EQ(forkless_command_fd(s.command, 7, 1), 0);
    show_run(&s, launch, &seen);
    CHECK_EQ(seen.count, 4);
    CHECK(seen_fd(&seen, 0) && seen_fd(&seen, 1) && seen_fd(&seen, 2) && seen_fd(&seen, 7));
}

TEST(b19_with_the_highest_limit) {
    struct rlimit limit = {1048576, 1048576};
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = limit.rlim_max;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
    int highest = (int)limit.rlim_cur - 1;
    CHECK_EQ(fcntl(0, F_DUPFD, highest), highest);
    open_many(200);
    check_three_and_a_map(forkless_spawn);
    check_three_and_a_map(forkless_start);
}

static void refused(int code) {
    pid_t pid = forked();
    if (pid == 0) {
        refuse(SYS_close_range, code);
        check_three_and_a_map(forkless_spawn);
        check_three_and_a_map(forkless_start);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

TEST(b21_close_range_refused) {
    open_many(300); /* more than one reading of the directory */
    const int codes[] = {ENOSYS, EPERM, EINVAL, EACCES};
    for (size_t i = 0; i < 4; i++)
        refused(codes[i]);
}

/* The answer is the same where clone is the mechanism. */
TEST(b21_close_range_and_clone3_refused) {
    open_many(300);
    refuse(SYS_clone3, ENOSYS);
    refused(ENOSYS);
}

TEST(b23_missing_program_although_all_is_closed) {
    open_many(50);
    forkless_command *c = command("/nonexistent", NULL);
    for (int l = 0; l < 2; l++)
        CHECK_EQ(fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1), l == 0);
    forkless_command_free(c);
    check_no_child();
}

/* ---- B20: without /proc ---- */

static void copy_probe(const char *to) {
    char line[1024];
    snprintf(line, sizeof line, "cp %s %s", PROBE, to);
    CHECK_EQ(system(line), 0);
}

static void in_root(const char *root) {
    CHECK_EQ(chroot(root), 0);
    CHECK_EQ(chdir("/"), 0);
    CHECK(access("/proc", F_OK) < 0);
    forkless_command *c = command("/probe", "exit", "4", NULL);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 4);
    refuse(SYS_close_range, ENOSYS);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENOENT, FORKLESS_STEP_CLOSE, -1);
    /* Nor where something else has the name. */
    CHECK(mkdir("/proc", 0700) == 0 && mkdir("/proc/self", 0700) == 0 &&
          mkdir("/proc/self/fd", 0700) == 0);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -ENOENT, FORKLESS_STEP_CLOSE, -1);
    CHECK(rmdir("/proc/self/fd") == 0 && rmdir("/proc/self") == 0 && rmdir("/proc") == 0);
    check_no_child();
    _exit(0);
}

TEST(b20_without_proc) {
    if (geteuid() != 0)
        skip_test("not root");
    char root[] = "/tmp/spawn-test-XXXXXX", program[64];
    CHECK(mkdtemp(root));
    snprintf(program, sizeof program, "%s/probe", root);
    copy_probe(program);
    pid_t pid = forked();
    if (pid == 0)
        in_root(root);
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    unlink(program);
    rmdir(root);
    CHECK_EQ(status, 0);
}

/* What /proc/self/fd shows may not be read either. */
TEST(b20_proc_refused) {
    refuse(SYS_close_range, EPERM);
    filter(&(struct rule){.number = SYS_openat,
                          .action = SECCOMP_RET_ERRNO | EACCES,
                          .argument = 2,
                          .mask = O_DIRECTORY,
                          .value = O_DIRECTORY},
           1);
    forkless_command *c = probe("exit", NULL);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, -EACCES, FORKLESS_STEP_CLOSE, -1);
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b18_no_child_keeps_a_pipe),
        cmocka_unit_test(b19_with_the_highest_limit),
        cmocka_unit_test(b20_without_proc),
        cmocka_unit_test(b20_proc_refused),
        cmocka_unit_test(b21_close_range_refused),
        cmocka_unit_test(b21_close_range_and_clone3_refused),
        cmocka_unit_test(b23_missing_program_although_all_is_closed),
    };
    return RUN(tests);
}
