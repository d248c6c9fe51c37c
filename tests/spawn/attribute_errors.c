/* Attributes that depend on what is there, and what is said when it is not. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

/* To the caller's directory, at the start. */
TEST(relative_working_directory) {
    for (int l = 0; l < 2; l++) {
        struct show s = show_new();
        CHECK_EQ(forkless_command_cwd(s.command, "lib"), 0);
        CHECK_EQ(chdir("/usr"), 0);
        show_run(&s, launchers[l], &seen);
        CHECK(seen_line(&seen, "cwd /usr/lib"));
        CHECK_EQ(chdir("/"), 0);
    }
}

/* Files are opened in the child's directory, with its umask. */
TEST(files_with_directory_and_umask) {
    char path[] = "/tmp/forkless-XXXXXX", file[64];
    struct stat made;
    CHECK(mkdtemp(path));
    snprintf(file, sizeof file, "%s/made", path);
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("exit", "7", NULL);
        CHECK_EQ(forkless_command_file(c, 5, "made", O_WRONLY | O_CREAT | O_EXCL, 0666), 0);
        CHECK_EQ(forkless_command_cwd(c, path), 0);
        CHECK_EQ(forkless_command_umask(c, 0137), 0);
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        CHECK_EQ(stat(file, &made), 0);
        CHECK_EQ(made.st_mode & 0777, 0640);
        CHECK_EQ(unlink(file), 0);
        forkless_command_free(c);
    }
    CHECK_EQ(rmdir(path), 0);
}

/* ---- groups ---- */

static void join_a_group(const struct route *r) {
    char line[32];
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    forkless_child *leader = launched_so(r, c);
    pid_t group = forkless_pid(leader);
    while (getpgid(group) != group) /* start is back before that */
        nap(1000);
    struct show s = show_new();
    CHECK_EQ(forkless_command_group(s.command, group), 0);
    ends(launched_so(r, s.command), FORKLESS_EXITED, 0);
    show_read(&s, &seen);
    snprintf(line, sizeof line, "group %d", group);
    CHECK(seen_line(&seen, line));
    CHECK_EQ(forkless_kill(leader, SIGKILL, FORKLESS_CHILD), 0);
    ends(leader, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_group(c, group), 0);
    fails(r->launch, c, -EPERM, FORKLESS_STEP_GROUP, group);
    forkless_command_free(c);
    check_no_child();
}

TEST(joining_a_group_on_each_route) {
    on_each_route(join_a_group);
}

/* ---- errors ---- */

static void fails_with(const struct route *r, forkless_command *c, int code,
                       enum forkless_step step, int index, const char *subject) {
    static struct snapshot before;
    forkless_child *child;
    forkless_error error;
    snapshot_take(&before);
    if (r->launch(c, &child, &error) == 0)
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, &error), code);
    forkless_child_free(child);
    CHECK_EQ(error.code, code);
    CHECK_EQ(error.step, step);
    CHECK_EQ(error.index, index);
    CHECK(strcmp(error.subject, subject) == 0);
    snapshot_check(&before);
    forkless_command_free(c);
}

/* B28: what failed is said, not only why. */
static void errors(const struct route *r) {
    forkless_command *c = probe("exit", NULL);
    ends(launched_so(r, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char name[64];
    snprintf(name, sizeof name, "of descriptor %d", file);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cwd(c, "/nonexistent"), 0);
    fails_with(r, c, -ENOENT, FORKLESS_STEP_CWD, -1, "/nonexistent");
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cwd_fd(c, file), 0);
    fails_with(r, c, -ENOTDIR, FORKLESS_STEP_CWD, file, name);
    c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cwd_fd(c, 999), 0);
    fails_with(r, c, -EBADF, FORKLESS_STEP_CWD, 999, "of descriptor 999");
    c = probe("exit", NULL);
    unsigned char none_of_ours[128] = {0};
    none_of_ours[127] = 0x80;
    CHECK_EQ(forkless_command_affinity(c, none_of_ours, sizeof none_of_ours), 0);
    fails_with(r, c, -EINVAL, FORKLESS_STEP_AFFINITY, -1, "");
}

TEST(b28_errors_on_each_route) {
    on_each_route(errors);
}

static void for_root(const struct route *r) {
    const struct rlimit more = {1 << 19, 1 << 19}, few = {64, 64}, zero = {0, 0};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_EQ(setrlimit(RLIMIT_NICE, &zero), 0);
    CHECK_EQ(setrlimit(RLIMIT_RTPRIO, &zero), 0);
    if (geteuid() == 0)
        CHECK_EQ(setresuid(65534, 65534, 65534), 0);
    forkless_command *c = command("/bin/true", NULL);
    CHECK_EQ(forkless_command_rlimit(c, RLIMIT_NOFILE, &more), 0);
    fails(r->launch, c, -EPERM, FORKLESS_STEP_RLIMIT, RLIMIT_NOFILE);
    forkless_command_free(c);
    c = command("/bin/true", NULL);
    CHECK_EQ(forkless_command_nice(c, -5), 0);
    fails(r->launch, c, -EACCES, FORKLESS_STEP_NICE, -1);
    forkless_command_free(c);
    c = command("/bin/true", NULL);
    CHECK_EQ(forkless_command_scheduler(c, SCHED_FIFO, 3), 0);
    fails(r->launch, c, -EPERM, FORKLESS_STEP_SCHEDULER, SCHED_FIFO);
    forkless_command_free(c);
    c = command("/bin/true", NULL);
    CHECK_EQ(forkless_command_io_priority(c, 1, 2), 0);
    fails(r->launch, c, -EPERM, FORKLESS_STEP_IO_PRIORITY, -1);
    forkless_command_free(c);
    check_no_child();
}

TEST(b28_what_takes_privileges) {
    on_each_route(for_root);
}

/* ---- B90, B91: what would change the caller ---- */

static int set_uid(forkless_command *c) {
    return forkless_command_uid(c, 65534);
}

static int set_gid(forkless_command *c) {
    return forkless_command_gid(c, 65534);
}

static int set_groups(forkless_command *c) {
    return forkless_command_groups(c, 2, (const gid_t[]){1, 2});
}

static int set_no_groups(forkless_command *c) {
    return forkless_command_groups(c, 0, NULL);
}

static int set_oom_score(forkless_command *c) {
    return forkless_command_oom_score(c, 500);
}

static int set_user_namespace(forkless_command *c) {
    return forkless_command_namespace(c, 0, CLONE_NEWUSER);
}

static void helper(const struct route *r) {
    int (*const setters[])(forkless_command *) = {set_uid,       set_gid,       set_groups,
                                                  set_no_groups, set_oom_score, set_user_namespace};
    CHECK_EQ(forkless_helper_path("/nonexistent"), 0);
    forkless_command *c = probe("exit", NULL);
    ends(launched_so(r, c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    for (int i = 0; i < 6; i++) {
        c = probe("exit", NULL);
        CHECK_EQ(setters[i](c), 0);
        CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
        fails_with(r, c, -ENOTSUP, FORKLESS_STEP_HELPER, -1, "/nonexistent");
    }
}

/* Where there is none. The snapshots know whether the caller is dumpable, and its OOM score. */
TEST(b90_what_takes_a_helper) {
    on_each_route(helper);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_working_directory),
        cmocka_unit_test(files_with_directory_and_umask),
        cmocka_unit_test(joining_a_group_on_each_route),
        cmocka_unit_test(b28_errors_on_each_route),
        cmocka_unit_test(b28_what_takes_privileges),
        cmocka_unit_test(b90_what_takes_a_helper),
    };
    return RUN(tests);
}
