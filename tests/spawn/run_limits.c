/* Runs: where outputs are cut, whose the result is, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

/* ---- B81: limits ---- */

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(b81_yes) {
    long before = resident_kib();
    for (int at = FORKLESS_DROP; at <= FORKLESS_END; at++) {
        const forkless_run_options options = {
            .limit = MIB,
            .at_limit = (enum forkless_at_limit)at,
            .deadline_ns = at == FORKLESS_DROP ? from_now(300) : 0,
        };
        forkless_result r = ran(command("/usr/bin/yes", NULL), &options);
        CHECK_EQ(r.status.how, FORKLESS_KILLED);
        CHECK_EQ(r.status.code, at == FORKLESS_STOP ? SIGPIPE : SIGTERM);
        CHECK_EQ(r.output_size, MIB);
        CHECK(memcmp(r.output, "y\ny\ny\n", 6) == 0 && strlen(r.output) == MIB);
        CHECK(r.output_dropped > 0);
        CHECK_EQ(r.limited, at != FORKLESS_DROP);
        CHECK_EQ(r.timed_out, at == FORKLESS_DROP);
        forkless_result_free(&r);
    }
    if (!sanitized())
        CHECK(resident_kib() - before < 4 * 1024);
}

/* Just so much is not too much. */
TEST(limits_to_the_byte) {
    for (int at = FORKLESS_DROP; at <= FORKLESS_END; at++)
        for (int size = 98; size <= 102; size++) {
            char script[128];
            snprintf(script, sizeof script, "head -c %d /dev/zero >&2; exit 0", size);
            forkless_result r =
                ran(shell(script),
                    &(forkless_run_options){.limit = 100, .at_limit = (enum forkless_at_limit)at});
            CHECK_EQ(r.errors_size, size < 100 ? size : 100);
            CHECK_EQ(r.errors[r.errors_size], 0);
            CHECK_EQ(r.errors_dropped, size < 100 ? 0 : size - 100);
            CHECK_EQ(r.limited, size > 100 && at != FORKLESS_DROP);
            CHECK_EQ(r.output_size, 0);
            forkless_result_free(&r);
        }
}

/* ---- results of the handle ---- */

TEST(one_result) {
    forkless_command *c = shell("echo x; read y");
    forkless_child *child;
    forkless_result r;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
    CHECK_EQ(forkless_command_fd(c, 0, ends[0]), 0);
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    CHECK_EQ(forkless_run_result(child, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_run_result(child, &r, NULL), -EBUSY);
    CHECK_EQ(forkless_wait(child, from_now(20), NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_run_result(child, &r, NULL), -EBUSY);
    CHECK(r.output == NULL);
    close(ends[1]);
    for (int i = 0; i < 3; i++) {
        forkless_status status;
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_EXITED);
    }
    CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
    has_text(r.output, r.output_size, "x\n");
    forkless_result_free(&r);
    CHECK_EQ(forkless_run_result(child, &r, NULL), -EBADF);
    forkless_child_free(child);
    forkless_command_free(c);
    c = probe("exit", NULL);
    child = launched(forkless_spawn, c);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(forkless_run_result(child, &r, NULL), -EBADF);
    CHECK_EQ(forkless_run_result(NULL, &r, NULL), -EINVAL);
    forkless_child_free(child);
    forkless_command_free(c);
}

/* Freed while it runs: its outputs are closed, and it goes on. */
TEST(freed_while_it_runs) {
    forkless_command *c = shell("sleep 0.05; echo x 2>/dev/null; exit 5");
    forkless_child *child;
    CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
    forkless_quiesce(FORKLESS_NEVER);
    pid_t pid = forkless_pid(child);
    forkless_child_free(child);
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) || WTERMSIG(status) == SIGPIPE);
    forkless_command_free(c);
}

/* ---- several threads ---- */

static void *wait_in_thread(void *child) {
    forkless_status status;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_EXITED);
    CHECK_EQ(status.code, 0);
    return NULL;
}

TEST(several_threads_wait_for_one_run) {
    char *data = patterned(MIB);
    forkless_command *c = command("/bin/cat", NULL);
    for (int i = 0; i < count(400); i++) {
        pthread_t threads[4];
        forkless_child *child;
        forkless_result r;
        CHECK_EQ(forkless_run_start(c, &(forkless_run_options){.input = data, .input_size = MIB},
                                    &child, NULL),
                 0);
        for (int t = 0; t < 4; t++)
            threads[t] = thread(wait_in_thread, child);
        while (forkless_poll(child) != FORKLESS_ENDED)
            nap(200);
        for (int t = 0; t < 4; t++)
            CHECK_EQ(pthread_join(threads[t], NULL), 0);
        CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
        CHECK(r.output_size == MIB && memcmp(r.output, data, MIB) == 0);
        forkless_result_free(&r);
        forkless_child_free(child);
    }
    free(data);
    forkless_command_free(c);
    check_no_child();
}

/* ---- bad input ---- */

static void refused(forkless_command *c, const forkless_run_options *options, int code,
                    enum forkless_step step) {
    forkless_error error;
    forkless_result result;
    forkless_child *child;
    CHECK_EQ(forkless_run(c, options, &result, &error), code);
    CHECK_EQ(error.code, code);
    CHECK_EQ(error.step, step);
    CHECK(result.output == NULL && result.errors == NULL);
    CHECK_EQ(forkless_run_start(c, options, &child, &error), code);
    CHECK(child == NULL);
}

static void refused_options(const forkless_run_options *options) {
    forkless_command *c = probe("exit", NULL);
    refused(c, options, -EINVAL, FORKLESS_STEP_ARGUMENT);
    forkless_command_free(c);
}

TEST(bad_options) {
    static struct snapshot before;
    forkless_command *c = probe("exit", NULL);
    ends(launched(forkless_start, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    snapshot_take(&before);
    refused_options(&(forkless_run_options){.capture = (enum forkless_capture)4});
    refused_options(&(forkless_run_options){.at_limit = (enum forkless_at_limit)3});
    refused_options(&(forkless_run_options){.whom = (enum forkless_whom)3});
    refused_options(&(forkless_run_options){.whom = FORKLESS_CGROUP});
    refused_options(&(forkless_run_options){.grace_ns = -1});
    refused_options(&(forkless_run_options){.input_size = 1});
    refused_options(&(forkless_run_options){.reserved = {0, 1}});
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_group(c, getpgrp()), 0);
    refused(c, NULL, -EINVAL, FORKLESS_STEP_ARGUMENT);
    forkless_command_free(c);
    refused(NULL, NULL, -EINVAL, FORKLESS_STEP_ARGUMENT);
    forkless_child *child;
    forkless_result result;
    c = probe("exit", NULL);
    CHECK_EQ(forkless_run(c, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_run_start(c, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_run(NULL, NULL, &result, NULL), -EINVAL);
    CHECK_EQ(forkless_run_start(NULL, NULL, &child, NULL), -EINVAL);
    forkless_command_free(c);
    snapshot_check(&before);
    check_no_child();
}

/* What is to be captured is something else already. */
TEST(descriptors_that_are_taken) {
    forkless_error error;
    char text[256];
    forkless_result result;
    const struct forkless_map map = {.child_fd = 1, .parent_fd = 2};
    const forkless_override override = {.maps = &map, .map_count = 1};
    forkless_command *c = probe("exit", NULL);
    refused(c, &(forkless_run_options){.override = &override}, -EEXIST, FORKLESS_STEP_ARGUMENT);
    forkless_command_free(c);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, 0, "/dev/null", O_RDONLY, 0), 0);
    CHECK_EQ(forkless_command_pipe(c, 2, FORKLESS_WRITES), 0);
    refused(c, NULL, -EEXIST, FORKLESS_STEP_ARGUMENT);
    CHECK_EQ(forkless_run(c, &(forkless_run_options){.input = "", .capture = FORKLESS_CAPTURE_NONE},
                          &result, &error),
             -EEXIST);
    forkless_error_print(&error, text, sizeof text);
    CHECK(strcmp(text, "cannot use an argument of this call: File exists (descriptor 0 is to be "
                       "fed, and something else sets it)") == 0);
    CHECK_EQ(forkless_run(c, &(forkless_run_options){.capture = FORKLESS_CAPTURE_OUTPUT}, &result,
                          &error),
             0);
    forkless_result_free(&result);
    forkless_command_free(c);
    check_no_child();
}

TEST(programs_that_cannot_be_executed) {
    forkless_command *c = command("/nonexistent", NULL);
    for (int i = 0; i < 3; i++) {
        forkless_error error;
        forkless_result result;
        CHECK_EQ(forkless_run(c, &(forkless_run_options){.input = "x", .input_size = 1}, &result,
                              &error),
                 -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        CHECK(result.output == NULL);
        forkless_child *child;
        CHECK_EQ(forkless_run_start(c, NULL, &child, NULL), 0);
        while (forkless_poll(child) != FORKLESS_ENDED)
            nap(100);
        for (int k = 0; k < 2; k++) {
            CHECK_EQ(forkless_run_result(child, &result, &error), -ENOENT);
            CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
            CHECK(result.output == NULL && result.status.how == 0);
        }
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b81_yes),
        cmocka_unit_test(limits_to_the_byte),
        cmocka_unit_test(one_result),
        cmocka_unit_test(freed_while_it_runs),
        cmocka_unit_test(several_threads_wait_for_one_run),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(descriptors_that_are_taken),
        cmocka_unit_test(programs_that_cannot_be_executed),
    };
    return RUN(tests);
}
