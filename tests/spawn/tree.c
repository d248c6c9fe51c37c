/* Signals to a child's group and cgroup: who belongs to it gets them, and no stranger. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "support.h"

/* A shell whose pipe at 1 is open as long as one of its tree lives; says "x" when all are there. */
struct tree {
    forkless_child *child;
    int out;
};

static forkless_command *shell(const char *script) {
    forkless_command *c = command("/bin/sh", "-c", script, NULL);
    CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_WRITES), 0);
    return c;
}

static struct tree grown(launcher *launch, forkless_command *c) {
    struct tree t = {.child = launched(launch, c)};
    char byte;
    t.out = forkless_child_pipe(t.child, 1);
    CHECK(t.out >= 0);
    CHECK_EQ(read(t.out, &byte, 1), 1);
    return t;
}

static void check_felled(struct tree *t) {
    char byte;
    struct pollfd p = {.fd = t->out, .events = POLLIN};
    CHECK_EQ(poll(&p, 1, 15000), 1);
    CHECK_EQ(read(t->out, &byte, 1), 0);
    close(t->out);
}

static void check_standing(const struct tree *t) {
    struct pollfd p = {.fd = t->out, .events = POLLIN};
    CHECK_EQ(poll(&p, 1, 20), 0);
}

static const char *const scripts[] = {
    "sleep 60 & sleep 60 & printf x; wait",
    "(sleep 60; true) | cat & printf x; wait",
    "sleep 60 & printf x; exec sleep 60",
};

TEST(b77_group) {
    for (int i = 0; i < 12; i++) {
        forkless_command *c = shell(scripts[i % 3]);
        CHECK_EQ(i % 2 ? forkless_command_session(c) : forkless_command_group(c, 0), 0);
        struct tree t = grown(launchers[i / 6], c);
        CHECK_EQ(forkless_kill(t.child, 0, FORKLESS_GROUP), 0);
        check_standing(&t);
        CHECK_EQ(forkless_kill(t.child, i % 4 < 2 ? SIGTERM : SIGKILL, FORKLESS_GROUP), 0);
        check_felled(&t);
        CHECK_EQ(forkless_wait(t.child, from_now(15000), NULL, NULL), 0);
        forkless_child_free(t.child);
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(group_is_not_its_own) {
    forkless_command *shared = probe("pause", NULL), *joined = probe("pause", NULL);
    CHECK_EQ(forkless_command_group(joined, getpgrp()), 0);
    for (int i = 0; i < 4; i++) {
        forkless_child *child = launched(launchers[i / 2], i % 2 ? joined : shared);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_GROUP), -EINVAL);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CGROUP), -EINVAL);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(shared);
    forkless_command_free(joined);
}

/* ---- B82: before the child has its group ---- */

TEST(b82_group_before_it_is_made) {
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_group(c, 0), 0);
    CHECK_EQ(setpgid(0, 0), 0);
    for (int signal = 0; signal < 2; signal++) {
        struct held held = {.command = c, .launch = forkless_start, .number = SYS_setpgid};
        pid_t pid = forked();
        if (pid == 0) {
            held_begin(&held);
            held_join(&held);
            CHECK_EQ(held.rc, 0);
            CHECK_EQ(forkless_poll(held.child), FORKLESS_PENDING);
            /* Ours gets nothing, or that would be the end of it. */
            CHECK_EQ(forkless_kill(held.child, signal ? SIGKILL : SIGTERM, FORKLESS_GROUP), 0);
            ends(held.child, FORKLESS_KILLED, signal ? SIGKILL : SIGTERM);
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
    forkless_command_free(c);
}

/* ---- B67: its leader has ended, and is waited for or not ---- */

static bool group_by_pidfd(void) {
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    long rc = syscall(SYS_pidfd_send_signal, fd, 0, NULL, 4);
    int code = errno;
    close(fd);
    return rc == 0 || code == ESRCH;
}

static void leader_is_gone(void) {
    bool by_pidfd = group_by_pidfd();
    for (int way = 0; way < 8; way++) {
        forkless_command *c = shell("sleep 60 & printf x");
        CHECK_EQ(forkless_command_group(c, 0), 0);
        struct tree t = grown(launchers[way / 4], c);
        siginfo_t info;
        bool waited = way & 1, pidfd = way & 2;
        if (pidfd)
            forkless_pidfd(t.child);
        CHECK_EQ(waitid(P_PID, (id_t)forkless_pid(t.child), &info, WEXITED | WNOWAIT), 0);
        bool reachable = !waited || (by_pidfd && forkless_pidfd(t.child) >= 0);
        if (waited)
            CHECK_EQ(forkless_wait(t.child, 0, NULL, NULL), 0);
        CHECK_EQ(forkless_kill(t.child, SIGKILL, FORKLESS_GROUP), reachable ? 0 : -ESRCH);
        if (!reachable)
            CHECK_EQ(kill(-forkless_pid(t.child), SIGKILL), 0);
        check_felled(&t);
        CHECK_EQ(forkless_wait(t.child, 0, NULL, NULL), 0);
        CHECK_EQ(forkless_kill(t.child, SIGKILL, FORKLESS_CHILD), -ESRCH);
        forkless_child_free(t.child);
        forkless_command_free(c);
    }
    check_no_child();
}

TEST(b67_leader_is_gone) {
    leader_is_gone();
}

/* Before Linux 6.9, or under a filter that has its own mind. */
TEST(b67_leader_is_gone_without_group_flag) {
    filter(&(struct rule){SYS_pidfd_send_signal, SECCOMP_RET_ERRNO | EINVAL, 3, ~0u, 4}, 1);
    leader_is_gone();
}

TEST(b75_group_without_pidfds) {
    const long calls[] = {SYS_pidfd_open, SYS_pidfd_send_signal};
    const int codes[] = {ENOSYS, EPERM, EINVAL};
    for (int i = 0; i < 6; i++) {
        pid_t pid = forked();
        if (pid == 0) {
            refuse(calls[i / 3], codes[i % 3]);
            leader_is_gone();
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
}

/* ---- B66, B67: group and number are a stranger's by now ---- */

static void stranger_has_the_group(void) {
    for (int way = 0; way < 4; way++) {
        forkless_command *c = probe("exit", NULL);
        CHECK_EQ(forkless_command_group(c, 0), 0);
        forkless_child *child = launched(launchers[way & 1], c);
        pid_t number = forkless_pid(child), stranger = -1;
        if (way & 2)
            forkless_pidfd(child);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        for (int attempt = 0; attempt < 20 && stranger != number; attempt++) {
            int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
            if (fd < 0 || dprintf(fd, "%d", number - 1) < 0)
                skip_test("pids cannot be chosen");
            close(fd);
            stranger = forked();
            if (stranger == 0) {
                setpgid(0, 0);
                pause();
                _exit(0);
            }
            setpgid(stranger, stranger);
        }
        CHECK_EQ(stranger, number);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_GROUP), -ESRCH);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), -ESRCH);
        CHECK_EQ(waitpid(stranger, NULL, WNOHANG), 0);
        kill(stranger, SIGKILL);
        CHECK_EQ(waitpid(stranger, NULL, 0), stranger);
        forkless_child_free(child);
        forkless_command_free(c);
    }
}

TEST(b66_group_of_a_stranger) {
    no_leak_check();
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    pid_t init = forked();
    if (init == 0) {
        stranger_has_the_group();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(init, &status, 0), init);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_test("pids cannot be chosen");
    CHECK_EQ(status, 0);
}

/* ---- cgroups ---- */

static char cgroup_path[CGROUP_PATH];

/* Those who have made a session of their own, too, and have still to make children. */
static const char daemons[] = "setsid sh -c 'sleep 60 & sleep 60' & sleep 60 & printf x; wait";

static void fell_cgroup(int signal, bool by_path, launcher *launch) {
    int folder = cgroup_made(cgroup_path);
    forkless_command *c = shell(daemons);
    CHECK_EQ(by_path ? forkless_command_cgroup_path(c, cgroup_path)
                     : forkless_command_cgroup(c, folder),
             0);
    struct tree t = grown(launch, c);
    close(folder); /* its number may be anything by now */
    CHECK_EQ(forkless_kill(t.child, 0, FORKLESS_CGROUP), 0);
    check_standing(&t);
    CHECK_EQ(forkless_kill(t.child, signal, FORKLESS_CGROUP), 0);
    check_felled(&t);
    ends(t.child, FORKLESS_KILLED, signal);
    forkless_command_free(c);
    cgroup_removed(cgroup_path);
    check_no_child();
}

TEST(b82_cgroup) {
    with_helper();
    for (int way = 0; way < 8; way++)
        fell_cgroup(way & 1 ? SIGTERM : SIGKILL, way & 2, launchers[way / 4]);
}

/* They cannot be frozen. */
TEST(b82_cgroup_without_freezer) {
    filter(&(struct rule){SYS_openat, SECCOMP_RET_ERRNO | ENOENT, 2, O_ACCMODE, O_RDWR}, 1);
    fell_cgroup(SIGKILL, false, forkless_spawn);
}

static void *kills(void *argument) {
    struct held *h = argument;
    const struct rule rule = {SYS_openat, SECCOMP_RET_USER_NOTIF, 2, O_ACCMODE, O_RDWR};
    __atomic_store_n(&h->listener, filter(&rule, 1), __ATOMIC_RELEASE);
    h->rc = forkless_kill(h->child, SIGKILL, FORKLESS_CGROUP);
    return NULL;
}

/* What they were frozen by thaws them: nothing more is opened for it. */
TEST(b38_cgroup_is_thawed_without_descriptors) {
    int folder = cgroup_made(cgroup_path);
    char frozen = '?';
    forkless_command *c = shell(daemons);
    CHECK_EQ(forkless_command_cgroup(c, folder), 0);
    struct tree t = grown(forkless_spawn, c);
    struct held h = {.child = t.child, .listener = -1};
    h.thread = thread(kills, &h);
    while (__atomic_load_n(&h.listener, __ATOMIC_ACQUIRE) < 0)
        nap(50);
    held_next(&h);
    held_go(&h, 0);
    struct pollfd again = {.fd = h.listener, .events = POLLIN};
    if (poll(&again, 1, 20000) == 1 && again.revents & POLLIN) {
        held_next(&h);
        held_go(&h, -EMFILE);
    }
    held_join(&h);
    close(h.listener);
    CHECK_EQ(h.rc, 0);
    check_felled(&t);
    int file = openat(folder, "cgroup.freeze", O_RDONLY | O_CLOEXEC);
    CHECK(file < 0 || read(file, &frozen, 1) == 1);
    CHECK(file < 0 || frozen == '0');
    close(file);
    ends(t.child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
    close(folder);
    cgroup_removed(cgroup_path);
}

/* Those who make children all the time, meanwhile. */
TEST(b82_cgroup_of_those_who_fork) {
    int folder = cgroup_made(cgroup_path);
    for (int i = 0; i < 4; i++) {
        int signal = i & 1 ? SIGTERM : SIGKILL;
        forkless_command *c =
            shell("for i in 1 2 3 4; do (while :; do sleep 60 & done) & done; printf x; wait");
        CHECK_EQ(forkless_command_cgroup(c, folder), 0);
        struct tree t = grown(launchers[i / 2], c);
        nap(20000);
        CHECK_EQ(forkless_kill(t.child, signal, FORKLESS_CGROUP), 0);
        check_felled(&t);
        ends(t.child, FORKLESS_KILLED, signal);
        forkless_command_free(c);
    }
    close(folder);
    cgroup_removed(cgroup_path);
}

TEST(cgroup_below_and_empty) {
    int folder = cgroup_made(cgroup_path), up[2];
    char below[160], byte;
    snprintf(below, sizeof below, "%s/below", cgroup_path);
    CHECK_EQ(mkdir(below, 0755), 0);
    CHECK_EQ(pipe(up), 0);
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_cgroup(c, folder), 0);
    forkless_child *child = launched(forkless_spawn, c);
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    CHECK_EQ(forkless_kill(child, SIGTERM, FORKLESS_CGROUP), -ESRCH);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CGROUP), -ESRCH);
    for (int i = 0; i < 2; i++) {
        pid_t pid = forked();
        if (pid == 0) {
            strcat(below, "/cgroup.procs");
            int fd = open(below, O_WRONLY);
            CHECK_EQ(write(fd, "0", 1), 1);
            CHECK_EQ(write(up[1], "x", 1), 1);
            for (;;)
                pause();
        }
        CHECK_EQ(read(up[0], &byte, 1), 1);
        CHECK_EQ(forkless_kill(child, i ? SIGTERM : SIGKILL, FORKLESS_CGROUP), 0);
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(WTERMSIG(status), i ? SIGTERM : SIGKILL);
    }
    forkless_child_free(child);
    forkless_command_free(c);
    cgroup_removed(below);
    cgroup_removed(cgroup_path);
}

/* One of them is somebody else's: the child alone gets it. */
TEST(cgroup_with_somebody_elses) {
    if (geteuid() != 0)
        skip_test("not root");
    with_helper();
    int folder = cgroup_made(cgroup_path), up[2], status;
    char byte;
    CHECK_EQ(pipe(up), 0);
    pid_t other = forked();
    if (other == 0) {
        int procs = openat(folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
        CHECK_EQ(write(procs, "0", 1), 1);
        CHECK_EQ(write(up[1], "x", 1), 1);
        for (;;)
            pause();
    }
    CHECK_EQ(read(up[0], &byte, 1), 1);
    pid_t host = forked();
    if (host == 0) {
        forkless_command *c = command("/bin/sleep", "60", NULL);
        CHECK_EQ(forkless_command_uid(c, 65534), 0);
        CHECK_EQ(forkless_command_cgroup(c, folder), 0);
        forkless_child *child = launched(forkless_spawn, c);
        CHECK_EQ(setresuid(65534, 65534, 65534), 0);
        CHECK_EQ(forkless_kill(child, SIGTERM, FORKLESS_CGROUP), -EPERM);
        ends(child, FORKLESS_KILLED, SIGTERM);
        forkless_command_free(c);
        _exit(0);
    }
    CHECK_EQ(waitpid(host, &status, 0), host);
    CHECK_EQ(waitpid(other, NULL, WNOHANG), 0);
    kill(other, SIGKILL);
    CHECK_EQ(waitpid(other, NULL, 0), other);
    cgroup_removed(cgroup_path);
    CHECK_EQ(status, 0);
}

/* The caller is in the cgroup that its child is in, or below it. */
static void caller_is_inside(const char *procs_below) {
    int folder = cgroup_made(cgroup_path);
    char below[160];
    snprintf(below, sizeof below, "%s/below", cgroup_path);
    CHECK_EQ(mkdir(below, 0755), 0);
    pid_t pid = forked();
    if (pid == 0) {
        int procs = openat(folder, procs_below, O_WRONLY | O_CLOEXEC);
        CHECK_EQ(write(procs, "0", 1), 1);
        forkless_command *c = probe("pause", NULL);
        CHECK_EQ(forkless_command_cgroup(c, folder), 0);
        const int signals[] = {SIGKILL, SIGTERM};
        for (int i = 0; i < 2; i++) {
            forkless_child *child = launched(forkless_spawn, c);
            CHECK_EQ(forkless_kill(child, 0, FORKLESS_CGROUP), -EINVAL);
            CHECK_EQ(forkless_wait(child, 0, NULL, NULL), -ETIMEDOUT);
            CHECK_EQ(forkless_kill(child, signals[i], FORKLESS_CGROUP), -EINVAL);
            ends(child, FORKLESS_KILLED, signals[i]);
        }
        forkless_command_free(c);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    cgroup_removed(below);
    cgroup_removed(cgroup_path);
    CHECK_EQ(status, 0);
}

/* B82: it would end itself: its child alone is ended. */
TEST(b82_cgroup_of_the_caller) {
    caller_is_inside("cgroup.procs");
    caller_is_inside("below/cgroup.procs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b77_group),
        cmocka_unit_test(group_is_not_its_own),
        cmocka_unit_test(b82_group_before_it_is_made),
        cmocka_unit_test(b67_leader_is_gone),
        cmocka_unit_test(b67_leader_is_gone_without_group_flag),
        cmocka_unit_test(b75_group_without_pidfds),
        cmocka_unit_test(b66_group_of_a_stranger),
        cmocka_unit_test(b82_cgroup),
        cmocka_unit_test(b82_cgroup_without_freezer),
        cmocka_unit_test(b38_cgroup_is_thawed_without_descriptors),
        cmocka_unit_test(b82_cgroup_of_those_who_fork),
        cmocka_unit_test(cgroup_below_and_empty),
        cmocka_unit_test(cgroup_with_somebody_elses),
        cmocka_unit_test(b82_cgroup_of_the_caller),
    };
    return RUN(tests);
}
