/* Runs that end all that is in a cgroup: also who has not joined it yet, or has left it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroups.h"
#include "run_support.h"
#include "support.h"

static char fifo[64];

static forkless_command *opens_fifo(void) {
    snprintf(fifo, sizeof fifo, "/tmp/forkless-fifo-%d", getpid());
    CHECK_EQ(mkfifo(fifo, 0600), 0);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_file(c, 0, fifo, O_RDONLY, 0), 0);
    return c;
}

/* It has not joined its cgroup yet. */
TEST(b100_deadline_before_the_cgroup) {
    char path[CGROUP_PATH];
    CHECK_EQ(close(cgroup_made(path)), 0);
    with_helper();
    forkless_command *c = opens_fifo();
    CHECK_EQ(forkless_command_cgroup_path(c, path), 0);
    forkless_run_options options = {
        .deadline_ns = from_now(50), .grace_ns = 100000000, .whom = FORKLESS_CGROUP};
    forkless_result r = ran(c, &options);
    cgroup_removed(path);
    CHECK_EQ(unlink(fifo), 0);
    CHECK(r.timed_out && !r.survivors);
    CHECK_EQ(r.status.how, FORKLESS_KILLED);
    CHECK(!r.status.execed);
    forkless_result_free(&r);
    check_no_child();
}

/* Whether SIGTERM ends it or not, which it gets all the same. */
static void child_that_has_left(int ignores) {
    char path[CGROUP_PATH], script[300];
    CHECK_EQ(close(cgroup_made(path)), 0);
    with_helper();
    snprintf(script, sizeof script,
             "sleep 60 & echo $$ >%s/../cgroup.procs; %s echo x; exec sleep 60", path,
             ignores ? "trap '' TERM;" : "");
    forkless_result r = {0};
    for (int ms = 100; r.output_size == 0 && ms < 5000; ms *= 2) {
        forkless_command *c = shell(script);
        CHECK_EQ(forkless_command_cgroup_path(c, path), 0);
        forkless_run_options options = {
            .deadline_ns = from_now(ms), .grace_ns = 100000000, .whom = FORKLESS_CGROUP};
        forkless_result_free(&r);
        r = ran(c, &options);
    }
    CHECK(r.timed_out && !r.survivors);
    CHECK_EQ(r.status.code, ignores ? SIGKILL : SIGTERM);
    has_text(r.output, r.output_size, "x\n");
    forkless_result_free(&r);
    cgroup_removed(path);
}

TEST(b82_child_that_has_left_its_cgroup) {
    for (int ignores = 0; ignores < 2; ignores++)
        in_process(child_that_has_left, ignores);
}

static void without_pidfds(int code) {
    char path[CGROUP_PATH];
    CHECK_EQ(close(cgroup_made(path)), 0);
    forkless_command *c = shell("echo x; setsid sleep 60 & sleep 60");
    CHECK_EQ(forkless_command_cgroup_path(c, path), 0);
    forkless_run_options options = {
        .deadline_ns = from_now(200), .grace_ns = 20000000000, .whom = FORKLESS_CGROUP};
    with_helper();
    refuse(SYS_pidfd_open, code);
    forkless_result r = ran(c, &options);
    CHECK(r.timed_out && !r.survivors);
    CHECK_EQ(r.status.code, SIGTERM);
    forkless_result_free(&r);
    cgroup_removed(path);
}

TEST(b75_cgroup_without_pidfds) {
    in_process(without_pidfds, ENOSYS);
    in_process(without_pidfds, EPERM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b100_deadline_before_the_cgroup),
        cmocka_unit_test(b82_child_that_has_left_its_cgroup),
        cmocka_unit_test(b75_cgroup_without_pidfds),
    };
    return RUN(tests);
}
