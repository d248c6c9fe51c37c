/* Runs: deadlines that have passed, and those that come before the exec. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

TEST(deadline_that_has_passed) {
    forkless_command *c = shell("echo x >&5");
    int file = memfd_create("file", 0);
    CHECK_EQ(forkless_command_fd(c, 5, file), 0);
    const int64_t past[] = {-1, INT64_MIN, 1, from_now(-1)};
    for (int i = 0; i < 4; i++) {
        forkless_error error;
        forkless_result r;
        forkless_child *child;
        const forkless_run_options options = {.deadline_ns = past[i]};
        CHECK_EQ(forkless_run(c, &options, &r, &error), -ETIMEDOUT);
        CHECK_EQ(error.step, FORKLESS_STEP_ARGUMENT);
        CHECK(strcmp(error.reason, "the deadline has passed; nothing was started") == 0);
        CHECK_EQ(forkless_run_start(c, &options, &child, &error), -ETIMEDOUT);
        CHECK(child == NULL);
    }
    CHECK_EQ(lseek(file, 0, SEEK_END), 0);
    check_no_child();
    forkless_command_free(c);
}

/* B100: it is still opening its input, which nobody writes. */
TEST(b100_deadline_before_the_exec) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/forkless-fifo-%d", getpid());
    CHECK_EQ(mkfifo(path, 0600), 0);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, 0, path, O_RDONLY, 0), 0);
    const forkless_run_options options = {.deadline_ns = from_now(50)};
    forkless_result r = ran(c, &options);
    CHECK(r.timed_out && !r.status.execed);
    CHECK_EQ(r.status.how, FORKLESS_KILLED);
    forkless_result_free(&r);
    CHECK_EQ(unlink(path), 0);
    check_no_child();
}

/* So late that it is given up before it can have ended: it has not exec'd all the same. */
TEST(b100_given_up_before_the_exec) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/forkless-late-%d", getpid());
    CHECK_EQ(mkfifo(path, 0600), 0);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, 0, path, O_RDONLY, 0), 0);
    for (int i = 0; i < 10; i++) {
        forkless_result r;
        const forkless_run_options options = {.deadline_ns = from_now(20), .grace_ns = 1};
        CHECK_EQ(forkless_run(c, &options, &r, NULL), 0);
        CHECK(r.timed_out && !r.status.execed);
        CHECK_EQ(r.status.how, r.survivors ? FORKLESS_UNKNOWN : FORKLESS_KILLED);
        forkless_result_free(&r);
    }
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    forkless_command_free(c);
    CHECK_EQ(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline_that_has_passed),
        cmocka_unit_test(b100_deadline_before_the_exec),
        cmocka_unit_test(b100_given_up_before_the_exec),
    };
    return RUN(tests);
}
