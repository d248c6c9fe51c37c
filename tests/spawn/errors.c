/* Each failure says its step, why, and on what; and leaves nothing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void fails_to_exec(const char *program, int code) {
    forkless_command *c = command(program, NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        int rc = launchers[l](c, &child, &error);
        if (l == 1) {
            CHECK_EQ(rc, 0);
            rc = forkless_wait(child, FORKLESS_NEVER, NULL, &error);
        }
        CHECK_EQ(rc, code);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        CHECK(strcmp(error.subject, program) == 0);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

/* With a file of these bytes. */
static void file_fails(const void *bytes, size_t size, mode_t mode, int code) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, bytes, size), size);
    CHECK_EQ(fchmod(fd, mode), 0);
    close(fd);
    fails_to_exec(path, code);
    unlink(path);
}

TEST(exec_says_why) {
    fails_to_exec("/nonexistent", -ENOENT);
    fails_to_exec("/", -EACCES);
    fails_to_exec("/dev/null/x", -ENOTDIR);
    fails_to_exec("/proc/self/fd", -EACCES);
    file_fails("x", 1, 0600, -EACCES);
}

TEST(b48_no_shell_steps_in) {
    static const unsigned char foreign[64] = {0x7f, 'E', 'L', 'F', 2, 2, 1, [18] = 0, 0x15};
    file_fails("echo hello\n", 11, 0700, -ENOEXEC);
    file_fails("", 0, 0700, -ENOEXEC);
    file_fails(foreign, sizeof foreign, 0700, -ENOEXEC);
}

/* "#!" and ELF alike: the file is there, its interpreter is not. */
TEST(b39_missing_interpreter) {
    static char image[1 << 16];
    file_fails("#!/nonexistent/sh\n", 18, 0700, -ENOENT);
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, image, sizeof image);
    CHECK(size > 0);
    close(fd);
    char *interpreter = memmem(image, (size_t)size, "/lib", 4);
    if (!interpreter)
        skip_test("/bin/true needs no interpreter");
    memcpy(interpreter, "/non", 4);
    file_fails(image, (size_t)size, 0700, -ENOENT);
}

TEST(spawn_tells_at_once_and_start_at_wait) {
    forkless_command *c = command("/nonexistent", NULL);
    CHECK(fails(forkless_spawn, c, -ENOENT, FORKLESS_STEP_EXEC, -1));
    CHECK(!fails(forkless_start, c, -ENOENT, FORKLESS_STEP_EXEC, -1));
    forkless_child *child = launched(forkless_start, c);
    for (int i = 0; i < 3; i++) {
        forkless_error error;
        forkless_status status;
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, &error), -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        CHECK_EQ(status.how, 0);
    }
    CHECK_EQ(forkless_kill(child, 9, FORKLESS_CHILD), -ESRCH);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* ---- B28: which step it was ---- */

static void step(const struct rule *rules, size_t n, int code, enum forkless_step want, int index) {
    pid_t pid = forked();
    if (pid == 0) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_fd(c, 5, 0), 0);
        CHECK_EQ(forkless_command_fd(c, 0, 1), 0);
        CHECK_EQ(forkless_command_fd(c, 1, 0), 0);
        filter(rules, n);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, code, want, index);
        check_no_child();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

#define FAIL(name, code)                                                                           \
    { .number = SYS_##name, .action = SECCOMP_RET_ERRNO | (code) }
#define STEP(code, want, index, ...)                                                               \
    do {                                                                                           \
        const struct rule rules[] = {__VA_ARGS__};                                                 \
        step(rules, sizeof rules / sizeof *rules, -(code), FORKLESS_STEP_##want, index);           \
    } while (0)

TEST(b28_each_step_is_named) {
    STEP(EAGAIN, CLONE, -1, FAIL(clone3, EAGAIN));
    STEP(ENOMEM, CLONE, -1, FAIL(clone3, ENOSYS), FAIL(clone, ENOMEM));
    STEP(ENOTSUP, CLOSE, -1, FAIL(close_range, ENOSYS), FAIL(getdents64, ENOTSUP));
    STEP(EBUSY, DESCRIPTOR, 5, FAIL(dup3, EBUSY));
    STEP(EMFILE, DESCRIPTOR, 1, FAIL(fcntl, EMFILE));
    STEP(EIO, MASK, -1, FAIL(rt_sigprocmask, EIO));
    STEP(EIO, SIGNAL, SIGPIPE, FAIL(rt_sigaction, EIO));
    STEP(EIO, HANDLERS, 1, FAIL(clone3, ENOSYS), FAIL(rt_sigaction, EIO));
    STEP(ETXTBSY, EXEC, -1, FAIL(execve, ETXTBSY));
}

TEST(b28_arguments) {
    forkless_command *c = probe("exit", NULL);
    forkless_child *child = (forkless_child *)c;
    forkless_error error;
    for (int l = 0; l < 2; l++) {
        CHECK_EQ(launchers[l](c, NULL, &error), -EINVAL);
        CHECK_EQ(error.step, FORKLESS_STEP_ARGUMENT);
        CHECK_EQ(launchers[l](NULL, &child, &error), -EINVAL);
        CHECK_EQ(error.step, FORKLESS_STEP_ARGUMENT);
        CHECK(child == NULL);
        CHECK_EQ(launchers[l](NULL, NULL, NULL), -EINVAL);
    }
    CHECK_EQ(forkless_wait(NULL, 0, NULL, &error), -EINVAL);
    CHECK_EQ(error.step, FORKLESS_STEP_ARGUMENT);
    CHECK_EQ(forkless_kill(NULL, 9, FORKLESS_CHILD), -EINVAL);
    CHECK_EQ(forkless_pidfd(NULL), -EINVAL);
    forkless_child_free(NULL);
    forkless_command_free(NULL);
    forkless_command_free(c);
}

/* ---- B30, B31: what failures leave ---- */

static volatile sig_atomic_t sigchlds;

static void count_sigchld(int signal) {
    sigchlds += signal == SIGCHLD;
}

TEST(b30_failures_leave_no_child_and_no_sigchld) {
    static struct snapshot before;
    signal(SIGCHLD, count_sigchld);
    forkless_command *c = command("/nonexistent", NULL);
    fails(forkless_spawn, c, -ENOENT, FORKLESS_STEP_EXEC, -1);
    snapshot_take(&before);
    for (int i = 0; i < count(10000); i++) {
        fails(launchers[i % 2], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
        CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    }
    snapshot_check(&before);
    CHECK_EQ(sigchlds, 0);
    forkless_command_free(c);
}

TEST(b31_failures_leave_no_pidfd) {
    static struct snapshot before;
    forkless_command *c = command("/nonexistent", NULL);
    fails(forkless_spawn, c, -ENOENT, FORKLESS_STEP_EXEC, -1);
    snapshot_take(&before);
    for (int i = 0; i < count(10000); i++) {
        forkless_child *child = launched(forkless_start, c);
        CHECK(forkless_pidfd(child) >= 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), -ENOENT);
        forkless_child_free(child);
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

/* A failing child whose handle was given up is reaped when the next handle is freed. */
TEST(b30_abandoned_failures_are_reaped) {
    siginfo_t info;
    forkless_command *c = command("/nonexistent", NULL), *good = probe("exit", NULL);
    for (int i = 0; i < count(2000); i++) {
        for (int k = 0; k < 1 + i % 5; k++)
            forkless_child_free(launched(forkless_start, c));
        forkless_child *child = launched(launchers[i % 2], good);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        nap(i % 3 * 100); /* now they may be dead, or nearly, or not */
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL);
        forkless_child_free(child);
    }
    int looks = WEXITED | WNOHANG | WNOWAIT | __WALL;
    for (int tries = 0; waitid(P_ALL, 0, &info, looks) == 0; tries++) {
        CHECK(tries < 1000);
        nap(tries * 100);
        ends(launched(forkless_spawn, good), FORKLESS_EXITED, 0);
    }
    forkless_command_free(c);
    forkless_command_free(good);
}

TEST(b35_a_failing_child_runs_no_exit_code_of_the_parent) {
    int pipes[2];
    CHECK_EQ(pipe(pipes), 0);
    CHECK_EQ(dup2(pipes[1], 1), 1);
    close(pipes[1]);
    pid_t pid = forked();
    if (pid == 0) {
        printf("once");
        forkless_command *c = command("/nonexistent", NULL);
        for (int l = 0; l < 2; l++)
            fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
        exit(0);
    }
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    close(1);
    char text[64];
    CHECK_EQ(read(pipes[0], text, sizeof text), 4);
    CHECK_EQ(read(pipes[0], text, sizeof text), 0);
}

/* ---- sentences ---- */

static void check_sentence(const forkless_error *error, const char *want) {
    char text[512];
    CHECK_EQ(forkless_error_print(error, text, sizeof text), strlen(want));
    CHECK(strcmp(text, want) == 0);
    CHECK_EQ(forkless_error_print(error, NULL, 0), strlen(want));
    CHECK_EQ(forkless_error_print(error, text, 4), strlen(want));
    CHECK(strncmp(text, want, 3) == 0 && text[3] == '\0');
}

TEST(errors_print_as_one_sentence) {
    forkless_error e = {.code = -ENOENT, .step = FORKLESS_STEP_EXEC, .subject = "/bin/x"};
    check_sentence(&e, "cannot execute /bin/x: No such file or directory");
    e = (forkless_error){.code = -EBADF, .step = FORKLESS_STEP_DESCRIPTOR, .index = 7};
    check_sentence(&e, "cannot make the child's descriptor 7: Bad file descriptor");
    e = (forkless_error){.code = 0};
    check_sentence(&e, "no error");
    check_sentence(NULL, "no error");
    e = (forkless_error){.code = -ENOENT, .step = FORKLESS_STEP_EXEC, .subject = "/bin/x"};
    CHECK_EQ(forkless_error_print(&e, NULL, 10), 48);
    strcpy(e.subject, "a\xc2\x9b"
                      "b\xc3\xa9");
    check_sentence(&e, "cannot execute a??b\xc3\xa9: No such file or directory");
    for (int s = -1; s < 100; s++) {
        char text[512];
        e = (forkless_error){.code = -EIO, .step = (enum forkless_step)s};
        CHECK(forkless_error_print(&e, text, sizeof text) > 10);
        CHECK((strcmp(forkless_step_name(e.step), "unknown") == 0) ==
              (s < 0 || s > FORKLESS_STEP_BATCH));
    }
}

TEST(a_long_program_keeps_its_end) {
    char program[600];
    memset(program, 'a', sizeof program);
    memcpy(program, "/nonexistent/", 13);
    strcpy(program + 590, "/the_end");
    for (int i = 100; i < 590; i += 100)
        program[i] = '/';
    forkless_command *c = command(program, NULL);
    forkless_child *child;
    forkless_error error;
    CHECK_EQ(forkless_spawn(c, &child, &error), -ENOENT);
    CHECK_EQ(strlen(error.subject), sizeof error.subject - 1);
    CHECK(strncmp(error.subject, "...", 3) == 0);
    CHECK(strcmp(error.subject + sizeof error.subject - 9, "/the_end") == 0);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exec_says_why),
        cmocka_unit_test(spawn_tells_at_once_and_start_at_wait),
        cmocka_unit_test(b28_each_step_is_named),
        cmocka_unit_test(b28_arguments),
        cmocka_unit_test(b30_failures_leave_no_child_and_no_sigchld),
        cmocka_unit_test(b30_abandoned_failures_are_reaped),
        cmocka_unit_test(b31_failures_leave_no_pidfd),
        cmocka_unit_test(b35_a_failing_child_runs_no_exit_code_of_the_parent),
        cmocka_unit_test(b39_missing_interpreter),
        cmocka_unit_test(b48_no_shell_steps_in),
        cmocka_unit_test(errors_print_as_one_sentence),
        cmocka_unit_test(a_long_program_keeps_its_end),
    };
    return RUN(tests);
}
