/* User, groups, capabilities: what the target has, and that the parent has none of it. As root. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { NOBODY = 65534, OTHER = 12345 };

static struct seen seen;

static void as_root(void) {
    if (geteuid() != 0)
        skip_test("not root");
    const gid_t groups[] = {0, 7};
    CHECK_EQ(setgroups(2, groups), 0);
    with_helper();
}

static bool has_capability(int capability) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    CHECK_EQ(syscall(SYS_capget, &header, data), 0);
    return data[capability / 32].effective >> capability % 32 & 1;
}

/* ---- B90: what the parent has ---- */

struct parent {
    char status[4096], score[16], cgroup[4096];
    int dumpable;
    struct rlimit limits[RLIM_NLIMITS];
};

static void read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, size - 1);
    CHECK(n >= 0);
    text[n] = '\0';
    close(fd);
}

static void look_at_parent(struct parent *p) {
    memset(p, 0, sizeof *p);
    read_text("/proc/thread-self/status", p->status, sizeof p->status);
    char *from = strstr(p->status, "\nUid:"), *to = strstr(p->status, "\nVmPeak:"),
         *caps = strstr(p->status, "\nCapInh:"), *end = strstr(p->status, "\nCpus_allowed:");
    CHECK(from && to && caps && end);
    memmove(p->status, from, (size_t)(to - from));
    memmove(p->status + (to - from), caps, (size_t)(end - caps));
    size_t kept = (size_t)(to - from) + (size_t)(end - caps);
    memset(p->status + kept, 0, sizeof p->status - kept);
    read_text("/proc/self/oom_score_adj", p->score, sizeof p->score);
    read_text("/proc/self/cgroup", p->cgroup, sizeof p->cgroup);
    p->dumpable = prctl(PR_GET_DUMPABLE);
    for (int r = 0; r < (int)RLIM_NLIMITS; r++)
        getrlimit((unsigned)r, &p->limits[r]);
}

TEST(b90_the_parent_is_as_it_was) {
    static struct parent before, after;
    static struct snapshot all;
    const struct rlimit none = {0, 0};
    as_root();
    CHECK_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
    look_at_parent(&before);
    forkless_command *c = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    for (int i = 0; i < 2; i++) {
        forkless_command *x = i ? bad : c;
        CHECK_EQ(forkless_command_uid(x, NOBODY), 0);
        CHECK_EQ(forkless_command_gid(x, NOBODY), 0);
        CHECK_EQ(forkless_command_groups(x, 0, NULL), 0);
        CHECK_EQ(forkless_command_capabilities(x, 1u << CAP_KILL), 0);
        CHECK_EQ(forkless_command_securebits(x, SECBIT_NOROOT), 0);
        CHECK_EQ(forkless_command_oom_score(x, 100), 0);
        CHECK_EQ(forkless_command_rlimit(x, RLIMIT_CORE, &none), 0);
        CHECK_EQ(forkless_command_no_new_privs(x), 0);
    }
    for (int i = 0; i < 10; i++)
        for (int l = 0; l < 2; l++) {
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
            fails(launchers[l], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
            if (i == 0 && l == 1)
                snapshot_take(&all);
        }
    snapshot_check(&all);
    look_at_parent(&after);
    CHECK_EQ(after.dumpable, 1);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    forkless_command_free(c);
    forkless_command_free(bad);
}

/* ---- B91: ids and groups ---- */

static void ids(const char *name, const gid_t *groups, size_t count, long uid, long gid,
                const char *want_uid, const char *want_gid, const char *want_groups) {
    for (int l = 0; l < 2; l++) {
        struct show s = show_by_stdout();
        if (groups)
            CHECK_EQ(forkless_command_groups(s.command, count, groups), 0);
        if (uid >= 0)
            CHECK_EQ(forkless_command_uid(s.command, (uid_t)uid), 0);
        if (gid >= 0)
            CHECK_EQ(forkless_command_gid(s.command, (gid_t)gid), 0);
        show_run(&s, launchers[l], &seen);
        if (!seen_line(&seen, want_uid) || !seen_line(&seen, want_gid) ||
            !seen_line(&seen, want_groups))
            check_failed(__FILE__, __LINE__, name);
    }
}

TEST(b91_ids_and_groups) {
    const gid_t one[] = {9};
    const char *root_uid = "Uid: 0 0 0 0 ", *root_gid = "Gid: 0 0 0 0 ",
               *uid = "Uid: 65534 65534 65534 65534 ", *gid = "Gid: 12345 12345 12345 12345 ";
    as_root();
    ids("uid", NULL, 0, NOBODY, -1, uid, root_gid, "Groups: 0 7 ");
    ids("uid, gid", NULL, 0, NOBODY, OTHER, uid, gid, "Groups: 0 7 ");
    ids("gid", NULL, 0, -1, OTHER, root_uid, gid, "Groups: 0 7 ");
    ids("no groups", one, 0, -1, -1, root_uid, root_gid, "Groups: ");
    ids("a group", one, 1, -1, -1, root_uid, root_gid, "Groups: 9 ");
    ids("all, no groups", one, 0, NOBODY, OTHER, uid, gid, "Groups: ");
    ids("all", one, 1, NOBODY, OTHER, uid, gid, "Groups: 9 ");
}

TEST(b91_many_groups) {
    static gid_t groups[65536];
    as_root();
    for (unsigned i = 0; i < 65536; i++)
        groups[i] = i + 1;
    forkless_command *c = command("/bin/sh", "-c", "set -- $(id -G); exit $(($# % 251))", NULL);
    CHECK_EQ(forkless_command_groups(c, 65536, groups), 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 65537 % 251); /* with its gid */
    forkless_command_free(c);
}

/* ---- capabilities ---- */

static void has_capabilities(launcher *launch, uint64_t set, long uid, int bits, const char *want) {
    char line[64];
    struct show s = show_by_stdout();
    CHECK_EQ(forkless_command_capabilities(s.command, set), 0);
    if (uid >= 0)
        CHECK_EQ(forkless_command_uid(s.command, (uid_t)uid), 0);
    if (bits >= 0)
        CHECK_EQ(forkless_command_securebits(s.command, (unsigned)bits), 0);
    show_run(&s, launch, &seen);
    const char *names[] = {"Inh", "Prm", "Eff", "Amb"};
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "Cap%s: %s ", names[i], want);
        if (!seen_line(&seen, line))
            check_failed(__FILE__, __LINE__, seen.text + 1000);
    }
    snprintf(line, sizeof line, "securebits %x", bits < 0 ? 0 : (unsigned)bits);
    CHECK(seen_line(&seen, line));
}

TEST(exactly_these_capabilities) {
    const int locked = SECURE_ALL_BITS | SECURE_ALL_LOCKS;
    as_root();
    for (int l = 0; l < 2; l++) {
        has_capabilities(launchers[l], 1u << CAP_KILL, NOBODY, -1, "0000000000000020");
        has_capabilities(launchers[l], 0, NOBODY, -1, "0000000000000000");
        has_capabilities(launchers[l], 0, -1, SECBIT_NOROOT, "0000000000000000");
        has_capabilities(launchers[l], 1u << CAP_NET_RAW | 1ull << CAP_SYSLOG, -1,
                         SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, "0000000400002000");
        has_capabilities(launchers[l], 1u << CAP_KILL, NOBODY,
                         (locked | SECBIT_NO_CAP_AMBIENT_RAISE) & ~SECBIT_KEEP_CAPS,
                         "0000000000000020");
    }
    /* Without either a change of user leaves none. */
    struct show s = show_by_stdout();
    CHECK_EQ(forkless_command_uid(s.command, NOBODY), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(seen_line(&seen, "CapPrm: 0000000000000000 "));
    s = show_by_stdout();
    CHECK_EQ(forkless_command_uid(s.command, NOBODY), 0);
    CHECK_EQ(forkless_command_securebits(s.command, SECBIT_NOROOT), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(seen_line(&seen, "CapPrm: 0000000000000000 "));
    CHECK(seen_line(&seen, "securebits 1"));
}

/* One that is set by keeping capabilities has no more rights to its working directory. */
TEST(cwd_as_the_new_user) {
    char theirs[] = "/tmp/spawn-test-XXXXXX", ours[] = "/tmp/spawn-test-XXXXXX", file[64];
    as_root();
    CHECK(mkdtemp(theirs) && mkdtemp(ours));
    CHECK_EQ(chown(theirs, NOBODY, NOBODY), 0);
    for (int l = 0; l < 2; l++)
        for (int bits = 0; bits < 2; bits++)
            for (int by_fd = 0; by_fd < 2; by_fd++) {
                for (int i = 0; i < 2; i++) {
                    forkless_command *c = command("/bin/sh", "-c", "pwd >&5", NULL);
                    int fd = open(i ? theirs : ours, O_PATH | O_CLOEXEC);
                    CHECK_EQ(forkless_command_uid(c, NOBODY), 0);
                    if (by_fd)
                        CHECK_EQ(forkless_command_cwd_fd(c, fd), 0);
                    else
                        CHECK_EQ(forkless_command_cwd(c, i ? theirs : ours), 0);
                    if (bits)
                        CHECK_EQ(forkless_command_securebits(c, SECBIT_NOROOT), 0);
                    /* Opened before, as root, where the directory will be. */
                    CHECK_EQ(forkless_command_file(c, 5, i ? "out" : "/dev/null",
                                                   O_WRONLY | O_CREAT | O_TRUNC, 0600),
                             0);
                    if (i)
                        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
                    else
                        fails(launchers[l], c, -EACCES, FORKLESS_STEP_CWD, by_fd ? fd : -1);
                    forkless_command_free(c);
                    close(fd);
                }
                struct stat s;
                snprintf(file, sizeof file, "%s/out", theirs);
                CHECK_EQ(stat(file, &s), 0);
                CHECK_EQ(s.st_uid, 0);
                CHECK_EQ(s.st_size, strlen(theirs) + 1);
                unlink(file);
            }
    rmdir(theirs);
    rmdir(ours);
}

/* ---- limits ---- */

TEST(limits_are_raised_as_the_old_user) {
    const struct rlimit low = {600, 700}, high = {800, 900};
    as_root();
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &low), 0);
    if (!has_capability(CAP_SYS_RESOURCE))
        skip_test("no CAP_SYS_RESOURCE");
    struct show s = show_by_stdout();
    CHECK_EQ(forkless_command_uid(s.command, NOBODY), 0);
    CHECK_EQ(forkless_command_rlimit(s.command, RLIMIT_NPROC, &high), 0);
    show_run(&s, forkless_spawn, &seen);
    CHECK(seen_line(&seen, "limit 6 800 900"));
}

/* The kernel looks at the new user's processes when one of them executes something. */
TEST(too_many_processes) {
    const struct rlimit one = {1, 1};
    as_root();
    forkless_command *first = probe("pause", NULL), *second = probe("exit", NULL);
    CHECK_EQ(forkless_command_uid(first, OTHER), 0);
    CHECK_EQ(forkless_command_uid(second, OTHER), 0);
    CHECK_EQ(forkless_command_rlimit(second, RLIMIT_NPROC, &one), 0);
    forkless_child *children[2];
    for (int i = 0; i < 2; i++)
        children[i] = launched(forkless_spawn, first);
    for (int l = 0; l < 2; l++)
        fails(launchers[l], second, -EAGAIN, FORKLESS_STEP_EXEC, -1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(forkless_kill(children[i], SIGKILL, FORKLESS_CHILD), 0);
        ends(children[i], FORKLESS_KILLED, SIGKILL);
    }
    forkless_command_free(first);
    forkless_command_free(second);
}

/* ---- B83: the death signal is there after the change of user ---- */

TEST(b83_death_signal_of_another_user) {
    as_root();
    for (int l = 0; l < 2; l++) {
        struct show s = show_by_stdout();
        CHECK_EQ(forkless_command_uid(s.command, NOBODY), 0);
        CHECK_EQ(forkless_command_death_signal(s.command, SIGTERM), 0);
        show_run(&s, launchers[l], &seen);
        CHECK(seen_line(&seen, "death_signal 15"));
    }
    for (int i = 0; i < count(400); i++) {
        int ends_with_it[2];
        CHECK_EQ(pipe(ends_with_it), 0);
        pid_t pid = forked();
        if (pid == 0) {
            forkless_command *c = probe("pause", NULL);
            forkless_child *child;
            CHECK_EQ(forkless_command_uid(c, NOBODY), 0);
            CHECK_EQ(forkless_command_death_signal(c, SIGKILL), 0);
            CHECK_EQ(forkless_command_fd(c, 1, ends_with_it[1]), 0);
            forkless_start(c, &child, NULL);
            for (volatile int spin = 0; spin < i % 100 * 4000; spin++)
                ;
            kill(getpid(), SIGKILL);
        }
        close(ends_with_it[1]);
        char byte;
        CHECK_EQ(read(ends_with_it[0], &byte, 1), 0);
        close(ends_with_it[0]);
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
    }
}

/* ---- B88: a thread of the parent changes its user meanwhile ---- */

static bool stop;

static void *change_user(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        CHECK_EQ(syscall(SYS_setresuid, OTHER, OTHER, 0), 0); /* of this thread alone */
        CHECK_EQ(syscall(SYS_setresuid, 0, 0, 0), 0);
    }
    return unused;
}

TEST(b88_a_thread_changes_its_user) {
    as_root();
    pthread_t t = thread(change_user, NULL);
    forkless_command *c =
        command("/bin/sh", "-c", "[ $(id -u) = 65534 ] && [ $(id -g) = 65534 ] && exit 7", NULL);
    CHECK_EQ(forkless_command_uid(c, NOBODY), 0);
    CHECK_EQ(forkless_command_gid(c, NOBODY), 0);
    for (int i = 0; i < count(2000); i++)
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 7);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    CHECK_EQ(pthread_join(t, NULL), 0);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b90_the_parent_is_as_it_was),
        cmocka_unit_test(b91_ids_and_groups),
        cmocka_unit_test(b91_many_groups),
        cmocka_unit_test(exactly_these_capabilities),
        cmocka_unit_test(cwd_as_the_new_user),
        cmocka_unit_test(limits_are_raised_as_the_old_user),
        cmocka_unit_test(too_many_processes),
        cmocka_unit_test(b83_death_signal_of_another_user),
        cmocka_unit_test(b88_a_thread_changes_its_user),
    };
    return RUN(tests);
}
