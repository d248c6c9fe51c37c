/*
 * The child of a held caller begins in its caller's table of descriptors and leaves it with its
 * first call: nothing that it does may be seen there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "others.h"
#include "support.h"

/* ---- 200 descriptors that one thread knows and watches ---- */

enum { FIRST = 300, KNOWN = 200 };

static struct stat known[KNOWN];
static atomic_int looks;

static void open_known(void) {
    for (int i = 0; i < KNOWN; i++) {
        int file = memfd_create("known", 0);
        CHECK_EQ(dup3(file, FIRST + i, i % 2 ? O_CLOEXEC : 0), FIRST + i);
        close(file);
        CHECK_EQ(fstat(FIRST + i, &known[i]), 0);
    }
}

static void check_known(void) {
    for (int i = 0; i < KNOWN; i++) {
        struct stat now;
        CHECK_EQ(fcntl(FIRST + i, F_GETFD), i % 2 ? FD_CLOEXEC : 0);
        CHECK_EQ(fstat(FIRST + i, &now), 0);
        CHECK_EQ(now.st_ino, known[i].st_ino);
    }
}

static void *watch(void *unused) {
    for (; !done; looks++)
        check_known();
    return unused;
}

/* Others open, close and move what is theirs; it stays so for as long as they have it. */
static void *juggle(void *number) {
    int mine = 100 + 20 * (int)(long)number;
    for (int i = 0; !done; i++) {
        struct stat made, moved;
        int file = memfd_create("juggled", i % 2 ? MFD_CLOEXEC : 0), to = mine + i % 20;
        CHECK(file >= 0);
        CHECK_EQ(fstat(file, &made), 0);
        CHECK_EQ(dup2(file, to), to);
        CHECK_EQ(close(file), 0);
        sched_yield();
        CHECK_EQ(fstat(to, &moved), 0);
        CHECK_EQ(moved.st_ino, made.st_ino);
        CHECK_EQ(close(to), 0);
    }
    return NULL;
}

/* All of these leave nothing open above stderr, and so begin in the caller's table. */
static forkless_command *of_kind(int kind) {
    forkless_command *c = kind == 3 ? command("/nonexistent", NULL) : probe("exit", "7", NULL);
    if (kind == 1) {
        CHECK_EQ(forkless_command_fd(c, 1, 2), 0);
        CHECK_EQ(forkless_command_fd(c, 2, 1), 0);
        CHECK_EQ(forkless_command_fd(c, FIRST + 1, 0), 0);
    }
    if (kind == 2) {
        CHECK_EQ(forkless_command_file(c, 0, "/dev/null", O_RDONLY, 0), 0);
        CHECK_EQ(forkless_command_memory(c, FIRST + 2, "12345", 5), 0);
        CHECK_EQ(forkless_command_same(c, 2, 1), 0);
    }
    return c;
}

static void run_kind(const forkless_command *c, int kind) {
    forkless_child *child;
    forkless_status status;
    int rc = forkless_spawn(c, &child, NULL);
    if (rc == 0) {
        CHECK_EQ(forkless_mechanism(child), FORKLESS_CLONE3_VFORK);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK(status.how == FORKLESS_KILLED || (status.how == FORKLESS_EXITED && kind != 3));
    } else {
        CHECK_EQ(rc, -ENOENT);
        CHECK_EQ(kind, 3);
    }
    forkless_child_free(child);
}

static void *spawn_all(void *unused) {
    forkless_command *c[4];
    for (int kind = 0; kind < 4; kind++)
        c[kind] = of_kind(kind);
    for (int i = 0; i < count(4000); i++)
        run_kind(c[i % 4], i % 4);
    for (int kind = 0; kind < 4; kind++)
        forkless_command_free(c[kind]);
    return unused;
}

static void beside_spawns(bool with_killer) {
    int between_looks = 200;
    pthread_t threads[8];
    int n = 0;
    open_known();
    threads[n++] = thread(watch, NULL);
    for (long i = 0; i < 3; i++)
        threads[n++] = thread(juggle, (void *)i);
    if (with_killer)
        threads[n++] = thread(kill_children, &between_looks);
    pthread_t spawner = thread(spawn_all, NULL);
    spawn_all(NULL);
    CHECK_EQ(pthread_join(spawner, NULL), 0);
    while (looks < 20)
        nap(100);
    done = true;
    for (int i = 0; i < n; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    check_known();
    check_no_child();
}

TEST(the_callers_table_stays) {
    beside_spawns(false);
}

TEST(b32_the_callers_table_stays_beside_a_killer) {
    if (access("/proc/thread-self/children", R_OK) < 0)
        skip_test("/proc tells no children");
    beside_spawns(true);
}

/* ---- killed or refused where it would leave the table ---- */

TEST(b32_killed_in_the_callers_table) {
    static struct snapshot before;
    open_known();
    for (int kind = 0; kind < 4; kind++) {
        forkless_status status;
        forkless_command *c = of_kind(kind);
        struct held h = {.command = c, .launch = forkless_spawn, .number = SYS_close_range};
        held_begin(&h);
        check_known(); /* with two in the table */
        int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK_EQ(kill(h.pid, SIGKILL), 0);
        held_join(&h);
        CHECK_EQ(h.rc, 0);
        CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK(!status.execed);
        forkless_child_free(h.child);
        CHECK_EQ(fcntl(file, F_GETFD), FD_CLOEXEC);
        close(file);
        close(h.listener);
        if (kind == 0)
            snapshot_take(&before);
        for (int fd = 0; fd < (int)sizeof before.fds; fd++)
            CHECK_EQ(fcntl(fd, F_GETFD), before.fds[fd]);
        check_known();
        forkless_command_free(c);
    }
    check_no_child();
}

/* What is open by the end of the call counts, not what was at its beginning. */
TEST(others_change_the_table_meanwhile) {
    open_known();
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_spawn, .number = SYS_close_range};
    held_begin(&h);
    int opened = fcntl(0, F_DUPFD, 550);
    CHECK_EQ(close(FIRST), 0);
    CHECK_EQ(dup2(FIRST + 2, FIRST + 4), FIRST + 4);
    held_go(&h, 0);
    held_join(&h);
    CHECK_EQ(fcntl(opened, F_GETFD), 0);
    CHECK_EQ(fcntl(FIRST, F_GETFD), -1);
    struct stat now;
    CHECK_EQ(fstat(FIRST + 4, &now), 0);
    CHECK_EQ(now.st_ino, known[2].st_ino);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(unshare_refused) {
    open_known();
    refuse(SYS_close_range, EPERM);
    for (int i = 0; i < 8; i++) {
        forkless_command *c = of_kind(i % 4);
        run_kind(c, i % 4);
        check_known();
        forkless_command_free(c);
    }
    check_no_child();
}

/* ---- record locks: whoever closes a file in their table loses them ---- */

static bool is_locked(const char *path) {
    int status;
    pid_t parent = getpid(), pid = forked();
    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK};
        int fd = open(path, O_RDWR);
        CHECK_EQ(fcntl(fd, F_GETLK, &lock), 0);
        _exit(lock.l_type == F_WRLCK && lock.l_pid == parent);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return status == 1 << 8;
}

TEST(record_locks_stay) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    int fd = mkstemp(path);
    CHECK_EQ(fcntl(fd, F_SETLK, &lock), 0);
    CHECK(is_locked(path));
    for (int kind = 0; kind < 4; kind++) {
        forkless_command *c = of_kind(kind);
        for (int i = 0; i < count(1000); i++)
            run_kind(c, kind);
        CHECK(is_locked(path));
        struct held h = {.command = c, .launch = forkless_spawn, .number = SYS_close_range};
        held_begin(&h);
        CHECK_EQ(kill(h.pid, SIGKILL), 0);
        held_join(&h);
        ends(h.child, FORKLESS_KILLED, SIGKILL);
        CHECK(is_locked(path));
        forkless_command_free(c);
    }
    close(fd);
    CHECK(!is_locked(path));
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_table_stays),
        cmocka_unit_test(b32_the_callers_table_stays_beside_a_killer),
        cmocka_unit_test(b32_killed_in_the_callers_table),
        cmocka_unit_test(others_change_the_table_meanwhile),
        cmocka_unit_test(unshare_refused),
        cmocka_unit_test(record_locks_stay),
    };
    return RUN(tests);
}
