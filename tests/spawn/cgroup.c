/* Children that are born in a cgroup (v2), and those that cannot be. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void put(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
    CHECK_EQ(close(fd), 0);
}

static int open_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

/* Where version 2, or this controller of version 1, is mounted; false: nowhere. */
static bool find_mount(const char *what, char *path) {
    char text[512], kind[64], options[256];
    FILE *mounts = fopen("/proc/mounts", "re");
    bool found = false;
    while (!found && mounts && fgets(text, sizeof text, mounts))
        found = sscanf(text, "%*s %200s %63s %255s", path, kind, options) == 3 &&
                strcmp(kind, what[0] == '2' ? "cgroup2" : "cgroup") == 0 &&
                (what[0] == '2' || strstr(options, what));
    if (mounts)
        fclose(mounts);
    return found;
}

struct cgroup {
    char path[256];
    int fd;
};

static struct cgroup new_cgroup(void) {
    struct cgroup g;
    char root[201];
    if (!find_mount("2", root))
        skip_test("no cgroup2 is mounted");
    snprintf(g.path, sizeof g.path, "%s/forkless-test-%d", root, getpid());
    if (mkdir(g.path, 0700) < 0)
        skip_test("no cgroup can be made");
    g.fd = open_folder(g.path);
    return g;
}

/* A test's process is waited for by one that cleans up, also after a failed check. */
static void with_cgroup(void (*body)(struct cgroup *)) {
    struct cgroup g = new_cgroup();
    pid_t pid = forked();
    if (pid == 0) {
        body(&g);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    put(g.path, "cgroup.freeze", "0");
    for (int i = 0; rmdir(g.path) < 0 && errno == EBUSY && i < 1000; i++)
        nap(1000);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        _exit(77);
    CHECK_EQ(status, 0);
}

static forkless_command *in_cgroup(int fd, const char *what) {
    forkless_command *c = probe(what, NULL);
    CHECK_EQ(forkless_command_cgroup(c, fd), 0);
    return c;
}

/* ---- born in it ---- */

static bool is_in(pid_t pid, const char *name) {
    char path[64], text[4096], line[300];
    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    snprintf(line, sizeof line, "0::%s\n", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    CHECK(n > 0);
    text[n] = '\0';
    close(fd);
    return strstr(text, line);
}

static void born(struct cgroup *g) {
    static struct snapshot before;
    forkless_command *c = in_cgroup(g->fd, "pause");
    CHECK_EQ(forkless_command_fd(c, 5, 0), 0);
    CHECK_EQ(forkless_command_session(c), 0);
    for (int i = 0; i < 8; i++) {
        if (i == 2)
            snapshot_take(&before);
        if (i == 4)
            CHECK_EQ(forkless_mechanism_limit(FORKLESS_CLONE_VFORK), 0);
        forkless_child *child = launched(launchers[i % 2], c);
        CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE3_VFORK);
        CHECK(is_in(forkless_pid(child), strrchr(g->path, '/')));
        CHECK(!is_in(getpid(), strrchr(g->path, '/')));
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
    }
    snapshot_check(&before);
    forkless_command_free(c);
    c = command("/nonexistent", NULL);
    CHECK_EQ(forkless_command_cgroup(c, g->fd), 0);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1));
    forkless_command_free(c);
}

TEST(born_in_it) {
    with_cgroup(born);
}

/* ---- B101: frozen ---- */

static void fails_in(int fd, int code, enum forkless_step step, int index) {
    static struct snapshot before;
    forkless_command *c = in_cgroup(fd, "exit"), *good = probe("exit", NULL);
    ends(launched(forkless_spawn, good), FORKLESS_EXITED, 0);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, code, step, index));
    snapshot_check(&before);
    forkless_command_free(c);
    forkless_command_free(good);
}

static void frozen(struct cgroup *g) {
    put(g->path, "cgroup.freeze", "1");
    fails_in(g->fd, -EBUSY, FORKLESS_STEP_CGROUP, g->fd);
    put(g->path, "cgroup.freeze", "0");
    forkless_command *c = in_cgroup(g->fd, "exit");
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
    forkless_command_free(c);
}

TEST(b101_frozen) {
    with_cgroup(frozen);
}

/* What cannot be looked at is not taken for harmless. */
static void frozen_with_a_full_table(struct cgroup *g) {
    struct rlimit few = {64, 64};
    put(g->path, "cgroup.freeze", "1");
    forkless_command *c = in_cgroup(g->fd, "exit"), *good = probe("exit", NULL);
    ends(launched(forkless_spawn, good), FORKLESS_EXITED, 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (dup(0) >= 0)
        continue;
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -EMFILE, FORKLESS_STEP_CGROUP, g->fd));
    forkless_command_free(c);
    forkless_command_free(good);
}

TEST(b101_frozen_with_a_full_table) {
    with_cgroup(frozen_with_a_full_table);
}

/* ---- B102: no such cgroup, or none for it ---- */

TEST(b102_no_cgroup) {
    const int fds[] = {open_folder("/tmp"), open("/dev/null", O_RDONLY | O_CLOEXEC), 999};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        fails_in(fds[i], -EBADF, FORKLESS_STEP_CGROUP, fds[i]);
}

TEST(b102_removed) {
    struct cgroup g = new_cgroup();
    CHECK_EQ(rmdir(g.path), 0);
    forkless_command *c = in_cgroup(g.fd, "exit");
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        int rc = launchers[l](c, &child, &error);
        CHECK(rc == -ENODEV || rc == -ENOENT);
        CHECK_EQ(error.step, FORKLESS_STEP_CGROUP);
        CHECK_EQ(error.index, g.fd);
    }
    forkless_command_free(c);
    check_no_child();
}

static void not_allowed(struct cgroup *g) {
    if (geteuid() != 0)
        skip_test("not root");
    forkless_command *c = command("/bin/true", NULL);
    CHECK_EQ(forkless_command_cgroup(c, g->fd), 0);
    CHECK_EQ(setresuid(65534, 65534, 65534), 0);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -EACCES, FORKLESS_STEP_CGROUP, g->fd));
    forkless_command_free(c);
}

TEST(b102_not_allowed) {
    with_cgroup(not_allowed);
}

/* One for threads, and a folder in it, which is a domain no more. */
static void threaded(struct cgroup *g) {
    char path[300];
    put(g->path, "cgroup.type", "threaded");
    snprintf(path, sizeof path, "%s/inner", g->path);
    CHECK_EQ(mkdir(path, 0700), 0);
    int inner = open_folder(path);
    forkless_command *c = in_cgroup(inner, "exit");
    bool refused[2];
    for (int l = 0; l < 2; l++)
        refused[l] = fails(launchers[l], c, -EOPNOTSUPP, FORKLESS_STEP_CGROUP, inner);
    CHECK_EQ(rmdir(path), 0);
    CHECK(refused[0] && refused[1]);
    forkless_command_free(c);
}

TEST(b102_of_threads) {
    with_cgroup(threaded);
}

static void hands_down(struct cgroup *g) {
    char path[300], text[256] = "+";
    snprintf(path, sizeof path, "%s/cgroup.controllers", g->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text + 1, sizeof text - 2);
    close(fd);
    if (n <= 1)
        skip_test("no controller to hand down");
    text[strcspn(text, " \n")] = '\0';
    put(g->path, "cgroup.subtree_control", text);
    fails_in(g->fd, -EBUSY, FORKLESS_STEP_CGROUP, g->fd);
}

TEST(b102_hands_controllers_down) {
    with_cgroup(hands_down);
}

/* ---- refused by a filter: of this command alone ---- */

struct refusal {
    int fd, code;
};

static void *refused(void *argument) {
    struct refusal *r = argument;
    forkless_command *c = in_cgroup(r->fd, "exit");
    refuse(SYS_clone3, r->code);
    for (int l = 0; l < 2; l++)
        CHECK(fails(launchers[l], c, -r->code, FORKLESS_STEP_CGROUP, r->fd));
    forkless_command_free(c);
    return NULL;
}

static void refusals(struct cgroup *g) {
    const int codes[] = {EPERM, EINVAL, ENOSYS, E2BIG};
    forkless_command *c = probe("exit", "7", NULL);
    for (size_t i = 0; i < 4; i++) {
        struct refusal r = {g->fd, codes[i]};
        CHECK_EQ(pthread_join(thread(refused, &r), NULL), 0);
        forkless_child *child = launched(forkless_start, c);
        CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE3_VM);
        ends(child, FORKLESS_EXITED, 7);
    }
    forkless_command_free(c);
}

TEST(b103_a_refusal_is_of_the_cgroup) {
    with_cgroup(refusals);
}

/* ---- limited memory ---- */

/* Folders that look like cgroups: the outer one, and one in it. */
TEST(limited_memory) {
    char outer[] = "/tmp/forkless-XXXXXX", inner[64], line[300];
    CHECK(mkdtemp(outer));
    snprintf(inner, sizeof inner, "%s/inner", outer);
    CHECK_EQ(mkdir(inner, 0700), 0);
    put(outer, "cgroup.procs", "");
    put(inner, "cgroup.procs", "");
    put(inner, "memory.max", "max\n");
    put(outer, "memory.max", "max\n");
    int inside = open_folder(inner);
    fails_in(inside, -EBADF, FORKLESS_STEP_CGROUP, inside); /* free, but no cgroup */
    put(outer, "memory.max", "1073741824\n");
    CHECK_EQ(forkless_helper_path("/nonexistent"), 0);
    fails_in(inside, -ENOTSUP, FORKLESS_STEP_HELPER, -1);
    put(outer, "memory.max", "max\n\n\n\n\n\n\n\n");
    put(inner, "memory.max", "0\n\n\n");
    fails_in(inside, -ENOTSUP, FORKLESS_STEP_HELPER, -1);
    forkless_command *c = in_cgroup(inside, "exit");
    forkless_child *child;
    forkless_error error;
    CHECK_EQ(forkless_spawn(c, &child, &error), -ENOTSUP);
    CHECK(strcmp(error.subject, "/nonexistent") == 0);
    CHECK(strstr(error.reason, "this cgroup"));
    with_helper();
    for (int l = 0; l < 2; l++) {
        put(inner, "cgroup.procs", "-");
        child = launched(launchers[l], c);
        CHECK(forkless_helped(child));
        ends(child, FORKLESS_EXITED, 0);
        char byte;
        int joined = openat(inside, "cgroup.procs", O_RDONLY | O_CLOEXEC);
        CHECK_EQ(read(joined, &byte, 1), 1);
        CHECK_EQ(byte, '0');
        close(joined);
    }
    forkless_command_free(c);
    snprintf(line, sizeof line, "rm -r %s", outer);
    CHECK_EQ(system(line), 0);
}

/* ---- limited processes ---- */

static void few_processes(int most) {
    char root[201], path[256], number[16], limit[16];
    if (!find_mount("pids", root))
        skip_test("no pids controller");
    snprintf(path, sizeof path, "%s/forkless-test-%d", root, getpid());
    if (mkdir(path, 0700) < 0)
        skip_test("no cgroup can be made");
    snprintf(number, sizeof number, "%d", getpid());
    snprintf(limit, sizeof limit, "%d", most);
    put(path, "pids.max", limit);
    put(path, "cgroup.procs", number);
    forkless_command *c = probe("exit", "7", NULL);
    bool at_once[2];
    for (int l = 0; l < 2; l++)
        at_once[l] = fails(launchers[l], c, -EAGAIN, FORKLESS_STEP_CLONE, -1);
    put(path, "pids.max", "max");
    forkless_child *child = launched(forkless_start, c); /* no verdict on clone3 */
    CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE3_VM);
    ends(child, FORKLESS_EXITED, 7);
    put(root, "cgroup.procs", number);
    CHECK_EQ(rmdir(path), 0);
    CHECK(at_once[0] && at_once[1]);
    forkless_command_free(c);
}

TEST(b102_few_processes) {
    in_process(few_processes, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(born_in_it),
        cmocka_unit_test(b101_frozen),
        cmocka_unit_test(b101_frozen_with_a_full_table),
        cmocka_unit_test(b102_no_cgroup),
        cmocka_unit_test(b102_removed),
        cmocka_unit_test(b102_not_allowed),
        cmocka_unit_test(b102_of_threads),
        cmocka_unit_test(b102_hands_controllers_down),
        cmocka_unit_test(b103_a_refusal_is_of_the_cgroup),
        cmocka_unit_test(limited_memory),
        cmocka_unit_test(b102_few_processes),
    };
    return RUN(tests);
}
