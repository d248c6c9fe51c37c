/* Runs: what goes in and comes out, byte for byte, and where it is cut. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

/* ---- what is captured ---- */

static const char both[] = "echo out; echo err >&2; exit 3";

TEST(apart_merged_one_none) {
    forkless_result r = ran(shell(both), NULL);
    has_exited(&r, 3);
    has_text(r.output, r.output_size, "out\n");
    has_text(r.errors, r.errors_size, "err\n");
    CHECK(!r.timed_out && !r.limited && !r.writers_remained && !r.survivors);
    CHECK_EQ(r.output_dropped + r.errors_dropped + r.input_written, 0);
    CHECK(r.status.execed && r.status.usage.ru_maxrss > 0);
    forkless_result_free(&r);
    CHECK(r.output == NULL && r.errors == NULL);
    r = ran(shell(both), &(forkless_run_options){.capture = FORKLESS_CAPTURE_MERGED});
    has_text(r.output, r.output_size, "out\nerr\n");
    CHECK(r.errors == NULL);
    forkless_result_free(&r);
    int file = memfd_create("file", MFD_CLOEXEC);
    forkless_command *c = shell(both);
    CHECK_EQ(forkless_command_fd(c, 2, file), 0);
    r = ran(c, &(forkless_run_options){.capture = FORKLESS_CAPTURE_OUTPUT});
    has_exited(&r, 3);
    has_text(r.output, r.output_size, "out\n");
    CHECK(r.errors == NULL);
    CHECK_EQ(lseek(file, 0, SEEK_END), 4);
    CHECK_EQ(close(file), 0);
    forkless_result_free(&r);
    r = ran(shell("exit 4"), &(forkless_run_options){.capture = FORKLESS_CAPTURE_NONE});
    has_exited(&r, 4);
    CHECK(r.output == NULL && r.errors == NULL);
    forkless_result_free(&r);
    r = ran(probe("exit", NULL), NULL);
    has_text(r.output, r.output_size, "");
    has_text(r.errors, r.errors_size, "");
    forkless_result_free(&r);
    forkless_result_free(NULL);
    check_no_child();
}

/* Whatever the command itself maps: its own of these numbers gives way, the others stay. */
TEST(descriptors_of_the_command) {
    int file = memfd_create("file", MFD_CLOEXEC);
    forkless_command *c = shell("echo out; echo five >&5");
    CHECK_EQ(forkless_command_fd(c, 1, 2), 0);
    CHECK_EQ(forkless_command_fd(c, 5, file), 0);
    forkless_result r = ran(c, NULL);
    has_text(r.output, r.output_size, "out\n");
    forkless_result_free(&r);
    char text[8] = "";
    CHECK_EQ(pread(file, text, sizeof text, 0), 5);
    CHECK(strcmp(text, "five\n") == 0);
    CHECK_EQ(close(file), 0);
}

/* 2 is what 1 is by the command; and its own pipes are the caller's as ever. */
TEST(sames_and_pipes_of_the_command) {
    forkless_command *c = shell("echo out; echo err >&2; cat <&4");
    CHECK_EQ(forkless_command_same(c, 2, 1), 0);
    CHECK_EQ(forkless_command_pipe(c, 4, FORKLESS_READS), 0);
    forkless_child *child;
    forkless_result r;
    CHECK_EQ(forkless_run_start(c, &(forkless_run_options){.capture = FORKLESS_CAPTURE_OUTPUT},
                                &child, NULL),
             0);
    int in = forkless_child_pipe(child, 4);
    CHECK_EQ(forkless_child_pipe(child, 1), -EBADF);
    CHECK_EQ(write(in, "four\n", 5), 5);
    CHECK_EQ(close(in), 0);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    has_text(r.output, r.output_size, "out\nerr\nfour\n");
    forkless_result_free(&r);
    forkless_child_free(child);
    forkless_command_free(c);
}

static const char *const more[] = {"a", "b", NULL};

TEST(override_of_a_run) {
    const forkless_override override = {.arguments = more};
    forkless_result r =
        ran(command("/bin/echo", "x", NULL), &(forkless_run_options){.override = &override});
    has_text(r.output, r.output_size, "x a b\n");
    forkless_result_free(&r);
}

/* ---- B10: the child's ends block, whatever ours do ---- */

TEST(b10_ends_block) {
    for (int merged = 0; merged < 2; merged++) {
        struct show s = show_new();
        static struct seen seen;
        forkless_result r = {0};
        CHECK_EQ(forkless_run(s.command,
                              &(forkless_run_options){.input = "x",
                                                      .input_size = 1,
                                                      .capture = merged ? FORKLESS_CAPTURE_MERGED
                                                                        : FORKLESS_CAPTURE_BOTH},
                              &r, NULL),
                 0);
        forkless_result_free(&r);
        show_read(&s, &seen);
        for (int fd = 0; fd < 3; fd++)
            CHECK_EQ(seen_fd(&seen, fd)->status & (O_NONBLOCK | O_ACCMODE),
                     fd ? O_WRONLY : O_RDONLY);
        CHECK_EQ(seen_fd(&seen, 1)->inode == seen_fd(&seen, 2)->inode, merged);
        CHECK(seen_line(&seen, "group own"));
    }
}

/* ---- B07: whatever of 0, 1, 2 is closed ---- */

static void closed_standard(int closed) {
    for (int fd = 0; fd < 3; fd++)
        if (closed & 1 << fd)
            close(fd);
    for (int capture = FORKLESS_CAPTURE_BOTH; capture <= FORKLESS_CAPTURE_OUTPUT; capture++) {
        forkless_result r =
            ran(shell("cat; echo err >&2; exit 3"),
                &(forkless_run_options){
                    .input = "in\n", .input_size = 3, .capture = (enum forkless_capture)capture});
        CHECK(r.output && strncmp(r.output, "in\n", 3) == 0);
        CHECK_EQ(r.output_size, capture == FORKLESS_CAPTURE_MERGED ? 7 : 3);
        has_exited(&r, 3);
        forkless_result_free(&r);
    }
    for (int fd = 0; fd < 3; fd++)
        CHECK_EQ(fcntl(fd, F_GETFD) < 0, (closed & 1 << fd) != 0);
}

TEST(b07_closed_standard) {
    for (int closed = 0; closed < 8; closed++) {
        pid_t pid = forked();
        if (pid == 0) {
            closed_standard(closed);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
}

/* ---- B78: nothing is lost, however much and however late ---- */

/* Written at once before the exit; who reads is late. */
TEST(b78_ten_mib_and_exit) {
    char *data = patterned(10 * MIB);
    int file = memfd_create("file", MFD_CLOEXEC);
    CHECK_EQ(write(file, data, 10 * MIB), 10 * MIB);
    for (int i = 0; i < count(1000); i++) {
        forkless_command *c = command("/bin/cat", "/dev/fd/5", NULL);
        CHECK_EQ(forkless_command_fd(c, 5, file), 0);
        forkless_child *child;
        forkless_result r;
        CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
        if (i % 2)
            nap(2000);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
        has_exited(&r, 0);
        CHECK_EQ(r.output_size, 10 * MIB);
        CHECK_EQ(r.output[10 * MIB], 0);
        CHECK(memcmp(r.output, data, 10 * MIB) == 0);
        forkless_result_free(&r);
        forkless_child_free(child);
        forkless_command_free(c);
    }
    free(data);
    close(file);
}

/* What is in the pipe when the child has ended is read, also when the loop comes too late. */
TEST(b78_a_late_loop_loses_nothing) {
    forkless_command *c = shell("head -c 60000 /dev/zero; sleep 5 & exit 0");
    for (int i = 0; i < 3; i++) {
        forkless_child *child;
        forkless_result r;
        CHECK_EQ(forkless_run_start(c, &(forkless_run_options){.linger_ns = 1}, &child, NULL), 0);
        nap(30000);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
        CHECK_EQ(r.output_size, 60000);
        CHECK(r.writers_remained);
        forkless_result_free(&r);
        forkless_child_free(child);
    }
    forkless_command_free(c);
}

TEST(eight_mib_in_and_out) {
    char *data = patterned(8 * MIB);
    for (int i = 0; i < count(60); i++) {
        forkless_result r = ran(command("/bin/cat", NULL),
                                &(forkless_run_options){.input = data, .input_size = 8 * MIB});
        has_exited(&r, 0);
        CHECK_EQ(r.input_written, 8 * MIB);
        CHECK_EQ(r.output_size, 8 * MIB);
        CHECK(memcmp(r.output, data, 8 * MIB) == 0);
        forkless_result_free(&r);
    }
    free(data);
}

/* ---- input ---- */

TEST(input_empty_and_none) {
    forkless_result r = ran(command("/bin/cat", NULL), &(forkless_run_options){.input = ""});
    has_exited(&r, 0);
    CHECK_EQ(r.output_size, 0);
    forkless_result_free(&r);
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(write(ends[1], "mine", 4), 4);
    close(ends[1]);
    forkless_command *c = command("/bin/cat", NULL);
    CHECK_EQ(forkless_command_fd(c, 0, ends[0]), 0);
    r = ran(c, NULL);
    has_text(r.output, r.output_size, "mine");
    forkless_result_free(&r);
}

static int sigpipes;

static void on_sigpipe(int signal) {
    (void)signal;
    sigpipes++;
}

static bool is_pending(int signal) {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

/* Nobody reads it; the caller's SIGPIPE is what it was, however it takes it. */
TEST(input_that_nobody_reads) {
    char *data = patterned(MIB);
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    for (int way = 0; way < 5; way++) {
        signal(SIGPIPE, way == 0 ? SIG_DFL : way == 1 ? SIG_IGN : on_sigpipe);
        sigprocmask(way >= 3 ? SIG_BLOCK : SIG_UNBLOCK, &pipe_only, NULL);
        if (way == 4)
            raise(SIGPIPE);
        static const char *const scripts[] = {"exec <&-; sleep 0.02", "exit 0", "read x; exit 0"};
        for (int i = 0; i < 6; i++) {
            forkless_result r = ran(shell(scripts[i % 3]),
                                    &(forkless_run_options){.input = data, .input_size = MIB});
            has_exited(&r, 0);
            CHECK(r.input_written < MIB);
            forkless_result_free(&r);
            CHECK_EQ(is_pending(SIGPIPE), way == 4);
        }
        sigset_t now;
        sigprocmask(SIG_BLOCK, NULL, &now);
        CHECK_EQ(sigismember(&now, SIGPIPE), way >= 3);
    }
    CHECK_EQ(sigpipes, 0);
    sigprocmask(SIG_UNBLOCK, &pipe_only, NULL);
    CHECK_EQ(sigpipes, 1);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart_merged_one_none),
        cmocka_unit_test(descriptors_of_the_command),
        cmocka_unit_test(sames_and_pipes_of_the_command),
        cmocka_unit_test(override_of_a_run),
        cmocka_unit_test(b10_ends_block),
        cmocka_unit_test(b07_closed_standard),
        cmocka_unit_test(b78_ten_mib_and_exit),
        cmocka_unit_test(b78_a_late_loop_loses_nothing),
        cmocka_unit_test(eight_mib_in_and_out),
        cmocka_unit_test(input_empty_and_none),
        cmocka_unit_test(input_that_nobody_reads),
    };
    return RUN(tests);
}
