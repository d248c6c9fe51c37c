/* Children that enter the namespaces of another process. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static const struct {
    int type;
    const char *name;
} kinds[] = {
    {CLONE_NEWNS, "mnt"},  {CLONE_NEWUTS, "uts"},       {CLONE_NEWIPC, "ipc"},
    {CLONE_NEWNET, "net"}, {CLONE_NEWCGROUP, "cgroup"}, {CLONE_NEWPID, "pid"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, PID_KIND = KINDS - 1 };

static int fds[KINDS]; /* of the other process' namespaces */
static char others[KINDS][64];
static pid_t holder;
static int release;

static void read_namespace(pid_t pid, const char *name, char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
    ssize_t n = readlink(path, text, 63);
    CHECK(n > 0);
    text[n] = '\0';
}

/* A process in new namespaces lends them and is gone. */
static void open_namespaces(void) {
    if (geteuid() != 0)
        skip_test("not root");
    int ready[2], done[2];
    char byte;
    CHECK(pipe2(ready, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0);
    pid_t pid = forked();
    if (pid == 0) {
        int all = 0;
        close(done[1]);
        for (int i = 0; i < KINDS; i++)
            all |= kinds[i].type;
        if (unshare(all) < 0)
            _exit(1);
        CHECK_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        CHECK_EQ(sethostname("forkless", 8), 0);
        pid_t first = forked(); /* without one its pid namespace is not there */
        if (first == 0) {
            CHECK_EQ(write(ready[1], "x", 1), 1);
            for (;;)
                pause();
        }
        close(ready[1]);
        CHECK_EQ(read(done[0], &byte, 1), 0);
        kill(first, SIGKILL);
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        skip_test("no namespaces can be made");
    for (int i = 0; i < KINDS; i++) {
        char path[64], name[32];
        snprintf(name, sizeof name, "%s%s", kinds[i].name, i == PID_KIND ? "_for_children" : "");
        snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        CHECK(fds[i] >= 0);
        read_namespace(pid, name, others[i]);
    }
    holder = pid;
    release = done[1];
}

static void close_namespaces(void) {
    close(release);
    CHECK_EQ(waitpid(holder, NULL, 0), holder);
}

static void ends_paused(forkless_child *child) {
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, SIGKILL);
}

/* What a child of this command is in. */
static void check_child(const struct route *r, forkless_command *c, const bool *entered) {
    static struct snapshot before;
    forkless_child *child = launched_so(r, c);
    ends_paused(child);
    snapshot_take(&before);
    child = launched_so(r, c);
    CHECK_EQ(forkless_quiesce(from_now(15000)), 0); /* it has exec'd */
    for (int i = 0; i < KINDS; i++) {
        char own[64], its[64];
        const char *children = i == PID_KIND ? "pid_for_children" : kinds[i].name;
        read_namespace(getpid(), kinds[i].name, own);
        read_namespace(forkless_pid(child), children, its);
        CHECK(strcmp(its, entered[i] ? others[i] : own) == 0);
    }
    char own[64], its[64]; /* which cannot be changed */
    read_namespace(getpid(), "pid", own);
    read_namespace(forkless_pid(child), "pid", its);
    CHECK(strcmp(its, own) == 0);
    ends_paused(child);
    snapshot_check(&before);
}

/* ---- each, and all at once ---- */

static void each(const struct route *r) {
    for (int i = 0; i < KINDS; i++) {
        bool entered[KINDS] = {false};
        entered[i] = true;
        forkless_command *c = probe("pause", NULL);
        CHECK_EQ(forkless_command_namespace(c, fds[i], kinds[i].type), 0);
        check_child(r, c, entered);
        forkless_command_free(c);
    }
    bool all[KINDS];
    forkless_command *c = probe("pause", NULL);
    for (int i = 0; i < KINDS; i++) {
        all[i] = true;
        CHECK_EQ(forkless_command_namespace(c, fds[i], kinds[i].type), 0);
    }
    check_child(r, c, all);
    forkless_command_free(c);
}

TEST(each_namespace_on_each_route) {
    open_namespaces();
    on_each_route(each);
    close_namespaces();
}

/* Of one kind the last that was set, whatever the numbers of the descriptors. */
TEST(the_last_of_a_kind_counts) {
    open_namespaces();
    for (int high = 0; high < 2; high++) {
        int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
        own = fcntl(own, F_DUPFD_CLOEXEC, high ? fds[1] + 100 : 0);
        int other = fcntl(fds[1], F_DUPFD_CLOEXEC, high ? 0 : own + 1);
        CHECK((own > other) == high);
        char line[16] = "";
        int out[2];
        forkless_command *c = command("/bin/uname", "-n", NULL);
        CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
        CHECK_EQ(forkless_command_fd(c, 1, out[1]), 0);
        CHECK_EQ(forkless_command_namespace(c, own, CLONE_NEWUTS), 0);
        CHECK_EQ(forkless_command_namespace(c, other, CLONE_NEWUTS), 0);
        ends(launched(forkless_spawn, c), FORKLESS_EXITED, 0);
        CHECK(read(out[0], line, sizeof line - 1) > 0);
        CHECK(strcmp(line, "forkless\n") == 0);
        forkless_command_free(c);
    }
    close_namespaces();
}

/* A pidfd stands for all the namespaces of its process. */
TEST(two_of_one_descriptor) {
    open_namespaces();
    int pidfd = (int)syscall(SYS_pidfd_open, holder, 0);
    CHECK(pidfd >= 0);
    if (setns(pidfd, CLONE_NEWUTS) < 0 && errno == EINVAL)
        skip_test("setns takes no pidfd");
    int own = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC);
    char script[256];
    snprintf(
        script, sizeof script,
        "test $(readlink /proc/self/ns/uts) = '%s' && test $(readlink /proc/self/ns/net) = '%s'",
        others[1], others[3]);
    forkless_command *c = command("/bin/sh", "-c", script, NULL);
    CHECK_EQ(forkless_command_namespace(c, pidfd, CLONE_NEWIPC), 0);
    CHECK_EQ(forkless_command_namespace(c, pidfd, CLONE_NEWUTS), 0);
    CHECK_EQ(forkless_command_namespace(c, own, CLONE_NEWIPC), 0);
    CHECK_EQ(forkless_command_namespace(c, pidfd, CLONE_NEWNET), 0);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    close_namespaces();
}

/* ---- errors ---- */

static void errors(const struct route *r) {
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int uts = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    const struct {
        int fd, type, code;
    } cases[] = {
        {999, CLONE_NEWNET, -EBADF}, {file, CLONE_NEWNET, -EINVAL}, {uts, CLONE_NEWNET, -EINVAL}};
    for (int i = 0; i < 3; i++) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_namespace(c, cases[i].fd, cases[i].type), 0);
        fails(r->launch, c, cases[i].code, FORKLESS_STEP_NAMESPACE, cases[i].fd);
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(b28_no_namespace) {
    on_each_route(errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_namespace_on_each_route),
        cmocka_unit_test(the_last_of_a_kind_counts),
        cmocka_unit_test(two_of_one_descriptor),
        cmocka_unit_test(b28_no_namespace),
    };
    return RUN(tests);
}
