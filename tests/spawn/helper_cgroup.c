/* Cgroups that a child joins by forkless-exec: by path, of version 1, with limited memory. As root,
 * where they can be made. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct seen seen;

/* ---- cgroups to test with ---- */

/* Where a hierarchy is mounted: "cgroup2", or of version 1 that of a controller; false: nowhere. */
static bool mount_of(const char *type, const char *controller, char path[256]) {
    char line[4096], point[256], system[64], options[1024];
    FILE *mounts = fopen("/proc/mounts", "r");
    bool found = false;
    while (mounts && !found && fgets(line, sizeof line, mounts)) {
        if (sscanf(line, "%*s %255s %63s %1023s", point, system, options) != 3)
            continue;
        found = strcmp(system, type) == 0;
        bool named = false;
        for (char *word = strtok(options, ","); word; word = strtok(NULL, ","))
            named |= controller && strcmp(word, controller) == 0;
        found = found && (named || !controller);
    }
    if (mounts)
        fclose(mounts);
    strcpy(path, point);
    return found;
}

static char folder[300];

static void make_cgroup(const char *type, const char *controller) {
    char mount[256];
    if (!mount_of(type, controller, mount))
        skip_test(controller ? "no cgroup of this controller" : "no cgroup v2");
    snprintf(folder, sizeof folder, "%s/spawn-test-%d", mount, getpid());
    if (mkdir(folder, 0755) < 0)
        skip_test("no cgroup can be made");
    forkless_helper_path(FORKLESS_EXEC); /* -EBUSY: the second time */
}

/* False: there is no such file. */
static bool write_file(const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

/* Its last process may be on its way out. */
static void remove_cgroup(void) {
    for (int i = 0; i < 1000 && rmdir(folder) < 0; i++) {
        CHECK_EQ(errno, EBUSY);
        nap(1000);
    }
}

static bool is_inside(const struct seen *s) {
    return strstr(s->text, strrchr(folder, '/')) != NULL;
}

static void own_cgroup(char *text, size_t size) {
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, size - 1);
    CHECK(n > 0);
    text[n] = '\0';
    close(fd);
}

static void joins(bool by_path) {
    static char before[4096], after[4096];
    own_cgroup(before, sizeof before);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int l = 0; l < 2; l++) {
        struct show s = show_by_stdout();
        if (by_path)
            CHECK_EQ(forkless_command_cgroup_path(s.command, folder), 0);
        else
            CHECK_EQ(forkless_command_cgroup(s.command, fd), 0);
        CHECK_EQ(forkless_command_cwd(s.command, "/"), 0);
        CHECK_EQ(forkless_command_fd(s.command, 3, 1), 0);
        forkless_child *child = launched(launchers[l], s.command);
        CHECK(forkless_helped(child));
        ends(child, FORKLESS_EXITED, 0);
        show_read(&s, &seen);
        CHECK(is_inside(&seen));
        CHECK_EQ(seen.count, 4);
    }
    close(fd);
    own_cgroup(after, sizeof after);
    CHECK(strcmp(before, after) == 0);
}

TEST(version_1) {
    make_cgroup("cgroup", "pids");
    joins(true);
    joins(false);
    remove_cgroup();
}

TEST(version_2_by_path) {
    make_cgroup("cgroup2", NULL);
    joins(true);
    remove_cgroup();
}

/* Whoever else is in it. */
static void killed_on_its_way(bool others) {
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_cgroup_path(c, folder), 0);
    forkless_child *other = others ? launched(forkless_spawn, c) : NULL;
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execveat};
    held_begin(&h);
    held_join(&h);
    CHECK_EQ(forkless_kill(h.child, 0, FORKLESS_CGROUP), 0);
    CHECK_EQ(forkless_kill(h.child, SIGKILL, FORKLESS_CGROUP), 0);
    CHECK_EQ(forkless_wait(h.child, from_now(15000), NULL, NULL), 0);
    ends(h.child, FORKLESS_KILLED, SIGKILL);
    if (other)
        ends(other, FORKLESS_KILLED, SIGKILL);
    close(h.listener);
    forkless_command_free(c);
}

TEST(b82_killed_on_its_way) {
    make_cgroup("cgroup2", NULL);
    killed_on_its_way(false);
    killed_on_its_way(true);
    remove_cgroup();
}

/* Born there, unless the helper is needed anyway. */
TEST(version_2_by_descriptor) {
    make_cgroup("cgroup2", NULL);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int with = 0; with < 2; with++)
        for (int l = 0; l < 2; l++) {
            struct show s = show_by_stdout();
            CHECK_EQ(forkless_command_cgroup_path(s.command, "/nonexistent"), 0);
            CHECK_EQ(forkless_command_cgroup(s.command, fd), 0);
            if (with)
                CHECK_EQ(forkless_command_oom_score(s.command, 500), 0);
            forkless_child *child = launched(launchers[l], s.command);
            CHECK_EQ(forkless_helped(child), with);
            ends(child, FORKLESS_EXITED, 0);
            show_read(&s, &seen);
            CHECK(is_inside(&seen));
        }
    close(fd);
    remove_cgroup();
}

TEST(version_2_with_limited_memory) {
    make_cgroup("cgroup2", NULL);
    if (!write_file("memory.max", "100000000")) {
        remove_cgroup();
        skip_test("no memory controller in cgroup v2");
    }
    joins(false);
    remove_cgroup();
}

/* ---- the child is killed for its memory, its parent lives ---- */

TEST(b101_memory_limited_to_little) {
    make_cgroup("cgroup", "memory");
    CHECK(write_file("memory.limit_in_bytes", "4194304"));
    forkless_command *c = command("/bin/sh", "-c", "x=x; while :; do x=$x$x$x$x; done", NULL);
    CHECK_EQ(forkless_command_cgroup_path(c, folder), 0);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
    remove_cgroup();
    check_no_child();
}

/* Before it comes to its target. */
TEST(b101_memory_limited_to_nothing) {
    make_cgroup("cgroup", "memory");
    CHECK(write_file("memory.limit_in_bytes", "0"));
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("exit", "7", NULL);
        CHECK_EQ(forkless_command_cgroup_path(c, folder), 0);
        forkless_status status;
        forkless_error error;
        forkless_child *child;
        int rc = launchers[l](c, &child, &error);
        if (rc == 0) {
            rc = forkless_wait(child, FORKLESS_NEVER, &status, &error);
            CHECK(rc < 0 || (status.how == FORKLESS_KILLED && status.code == SIGKILL));
        }
        CHECK(rc == 0 || rc == -ENOMEM);
        forkless_child_free(child);
        forkless_command_free(c);
    }
    remove_cgroup();
    check_no_child();
}

/* ---- B101, B102: cgroups that cannot be joined ---- */

static void cannot_join(const char *path, int code) {
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cgroup_path(c, path), 0);
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        if (launchers[l](c, &child, &error) == 0)
            CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, &error), code);
        forkless_child_free(child);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_CGROUP);
        CHECK_EQ(error.index, -1);
        CHECK(strcmp(error.subject, path) == 0);
    }
    forkless_command_free(c);
    check_no_child();
}

TEST(b102_no_cgroup) {
    static struct snapshot before;
    with_helper();
    cannot_join("/nonexistent", -ENOENT);
    snapshot_take(&before);
    cannot_join("/nonexistent", -ENOENT);
    cannot_join("/dev/null", -ENOTDIR);
    cannot_join("/tmp", -EBADF);
    snapshot_check(&before);
    forkless_command *c = probe("exit", NULL);
    int fd = open("/tmp", O_RDONLY | O_CLOEXEC);
    CHECK_EQ(forkless_command_cgroup(c, fd), 0);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -EBADF, FORKLESS_STEP_CGROUP, fd));
    forkless_command_free(c);
}

TEST(b102_it_is_gone) {
    make_cgroup("cgroup", "pids");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    remove_cgroup();
    cannot_join(folder, -ENOENT);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cgroup(c, fd), 0);
    forkless_child *child;
    forkless_error error;
    for (int l = 0; l < 2; l++) {
        if (launchers[l](c, &child, &error) == 0)
            CHECK(forkless_wait(child, FORKLESS_NEVER, NULL, &error) < 0);
        forkless_child_free(child);
        CHECK(error.code == -ENODEV || error.code == -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_CGROUP);
        CHECK_EQ(error.index, fd);
    }
    forkless_command_free(c);
}

TEST(b102_no_cpus) {
    make_cgroup("cgroup", "cpuset");
    cannot_join(folder, -ENOSPC);
    remove_cgroup();
}

TEST(b101_frozen) {
    make_cgroup("cgroup", "freezer");
    CHECK(write_file("freezer.state", "FROZEN"));
    cannot_join(folder, -EBUSY);
    CHECK(write_file("freezer.state", "THAWED"));
    joins(true);
    remove_cgroup();
    make_cgroup("cgroup2", NULL);
    CHECK(write_file("cgroup.freeze", "1"));
    cannot_join(folder, -EBUSY);
    CHECK(write_file("cgroup.freeze", "0"));
    joins(true);
    remove_cgroup();
}

TEST(b102_no_permission) {
    make_cgroup("cgroup", "pids");
    pid_t pid = forked();
    if (pid == 0) {
        CHECK_EQ(setresgid(65534, 65534, 65534), 0);
        CHECK_EQ(setresuid(65534, 65534, 65534), 0);
        cannot_join(folder, -EACCES);
        _exit(0);
    }
    siginfo_t info;
    CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
    CHECK_EQ(info.si_status, 0);
    remove_cgroup();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1),
        cmocka_unit_test(version_2_by_path),
        cmocka_unit_test(b82_killed_on_its_way),
        cmocka_unit_test(version_2_by_descriptor),
        cmocka_unit_test(version_2_with_limited_memory),
        cmocka_unit_test(b101_memory_limited_to_little),
        cmocka_unit_test(b101_memory_limited_to_nothing),
        cmocka_unit_test(b102_no_cgroup),
        cmocka_unit_test(b102_it_is_gone),
        cmocka_unit_test(b102_no_cpus),
        cmocka_unit_test(b101_frozen),
        cmocka_unit_test(b102_no_permission),
    };
    return RUN(tests);
}
