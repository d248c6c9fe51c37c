/* Children that are stopped, killed or abandoned before, in and after their exec. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static const long calls[] = {SYS_close_range,    SYS_fcntl,        SYS_dup3,
                             SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_execve};
enum { CALLS = sizeof calls / sizeof *calls };

/* One with every kind of system call. */
static forkless_command *busy_command(void) {
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_fd(c, 5, 5), 0);
    CHECK_EQ(forkless_command_fd(c, 3, 0), 0);
    CHECK_EQ(dup2(0, 5), 5);
    return c;
}

static volatile sig_atomic_t sigchlds;

static void count_sigchld(int signal) {
    sigchlds += signal == SIGCHLD;
}

TEST(start_returns_before_exec) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    CHECK_EQ(forkless_mechanism(h.child), FORKLESS_CLONE3_VM);
    CHECK_EQ(forkless_pid(h.child), h.pid);
    CHECK_EQ(forkless_wait(h.child, 0, NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_wait(h.child, from_now(20), NULL, NULL), -ETIMEDOUT);
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
    check_no_child();
}

TEST(spawn_returns_after_exec) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_spawn, .number = SYS_execve};
    held_begin(&h);
    nap(50000);
    CHECK_EQ(pthread_tryjoin_np(h.thread, NULL), EBUSY);
    held_go(&h, 0);
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    CHECK_EQ(forkless_mechanism(h.child), FORKLESS_CLONE3_VFORK);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

static void b32_killed_at(launcher *launch, long number) {
    forkless_status status;
    forkless_command *c = busy_command();
    struct held h = {.command = c, .launch = launch, .number = number};
    held_begin(&h);
    CHECK_EQ(kill(h.pid, SIGKILL), 0);
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_KILLED);
    CHECK_EQ(status.code, SIGKILL);
    CHECK(!status.execed);
    forkless_child_free(h.child);
    forkless_command_free(c);
    close(h.listener);
    check_no_child();
}

TEST(b32_killed_before_exec) {
    signal(SIGCHLD, count_sigchld);
    for (int i = 0; i < CALLS; i++)
        for (int l = 0; l < 2; l++)
            b32_killed_at(launchers[l], calls[i]);
    CHECK_EQ(sigchlds, 0);
}

TEST(b32_killed_by_the_handle_before_exec) {
    forkless_status status;
    forkless_command *c = probe("exit", NULL);
    for (int with_pidfd = 0; with_pidfd < 2; with_pidfd++) {
        struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
        held_begin(&h);
        held_join(&h);
        if (with_pidfd)
            CHECK(forkless_pidfd(h.child) >= 0);
        CHECK_EQ(forkless_kill(h.child, 0, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_kill(h.child, SIGTERM, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK_EQ(status.code, SIGTERM);
        CHECK(!status.execed);
        forkless_child_free(h.child);
        close(h.listener);
    }
    forkless_command_free(c);
    check_no_child();
}

static void b32_stopped_at(launcher *launch, long number) {
    forkless_command *c = busy_command();
    struct held h = {.command = c, .launch = launch, .number = number};
    siginfo_t info;
    held_begin(&h);
    CHECK_EQ(kill(h.pid, SIGSTOP), 0);
    /* Interrupted by the signal, the call comes again when the child goes on. */
    CHECK_EQ(waitid(P_PID, (id_t)h.pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
    if (launch == forkless_start) {
        held_join(&h);
        CHECK_EQ(forkless_wait(h.child, from_now(10), NULL, NULL), -ETIMEDOUT);
    } else {
        nap(10000);
        CHECK_EQ(pthread_tryjoin_np(h.thread, NULL), EBUSY);
    }
    CHECK_EQ(kill(h.pid, SIGCONT), 0);
    held_next(&h);
    held_go(&h, 0);
    if (launch == forkless_spawn)
        held_join(&h);
    CHECK_EQ(h.rc, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
    close(h.listener);
    check_no_child();
}

TEST(b62_stopped_before_exec) {
    for (int l = 0; l < 2; l++) {
        b32_stopped_at(launchers[l], SYS_close_range);
        b32_stopped_at(launchers[l], SYS_execve);
    }
}

TEST(b32_stopped_and_killed_after_exec) {
    forkless_status status;
    siginfo_t info;
    forkless_command *c = probe("pause", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_child *child = launched(launchers[l], c);
        CHECK_EQ(forkless_kill(child, SIGSTOP, FORKLESS_CHILD), 0);
        pid_t pid = forkless_pid(child);
        CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
        CHECK_EQ(forkless_wait(child, from_now(10), NULL, NULL), -ETIMEDOUT);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK(status.execed || l == 1);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

/* Around the exec itself, at every distance from it. */
TEST(b32_killed_around_exec) {
    forkless_command *c = probe("pause", NULL);
    for (int i = 0; i < count(20000); i++) {
        forkless_status status;
        forkless_child *child = launched(forkless_start, c);
        for (volatile int spin = 0; spin < i % 500 * 1000; spin++)
            ;
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_KILLED);
        CHECK_EQ(status.code, SIGKILL);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

static void *launch_in_thread(void *argument) {
    struct held *h = argument;
    h->rc = h->launch(h->command, &h->child, &h->error);
    return NULL;
}

/* The probe under a name of its own: others may run beside us, and their execs are not ours. */
static void copy_probe(char *path) {
    int from = open(PROBE, O_RDONLY | O_CLOEXEC), to = mkostemp(path, O_CLOEXEC);
    CHECK(from >= 0 && to >= 0);
    while (sendfile(to, from, NULL, 1 << 20) > 0)
        continue;
    CHECK_EQ(fchmod(to, 0700), 0);
    close(from);
    close(to);
}

/* The kernel asks us before it opens the program. */
static void signalled_in_exec(int fanotify, const char *path, launcher *launch, int signal) {
    forkless_command *c = command(path, "exit", "7", NULL);
    struct held h = {.command = c, .launch = launch};
    struct fanotify_event_metadata event;
    siginfo_t info;
    h.thread = thread(launch_in_thread, &h);
    CHECK_EQ(read(fanotify, &event, sizeof event), sizeof event);
    CHECK(event.pid > 0);
    CHECK_EQ(kill(event.pid, signal), 0);
    struct fanotify_response answer = {.fd = event.fd, .response = FAN_ALLOW};
    CHECK_EQ(write(fanotify, &answer, sizeof answer), sizeof answer);
    close(event.fd);
    if (signal == SIGSTOP) {
        CHECK_EQ(waitid(P_PID, (id_t)event.pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
        CHECK_EQ(kill(event.pid, SIGCONT), 0);
    }
    held_join(&h);
    CHECK_EQ(h.rc, 0);
    ends(h.child, signal == SIGSTOP ? FORKLESS_EXITED : FORKLESS_KILLED,
         signal == SIGSTOP ? 7 : signal);
    forkless_command_free(c);
    check_no_child();
}

TEST(b32_stopped_and_killed_in_exec) {
    int fanotify = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
    char path[] = "/tmp/forkless-probe-XXXXXX";
    copy_probe(path);
    int marked = fanotify_mark(fanotify, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path);
    for (int l = 0; l < 2 && marked == 0; l++) {
        signalled_in_exec(fanotify, path, launchers[l], SIGKILL);
        signalled_in_exec(fanotify, path, launchers[l], SIGSTOP);
    }
    CHECK_EQ(unlink(path), 0);
    if (marked < 0)
        skip_test("no permission events");
}

TEST(callers_thread_ends_before_exec) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    for (int i = 0; i < 8; i++) { /* others take its stack */
        struct held other = {.command = c, .launch = forkless_spawn, .number = SYS_execve};
        held_begin(&other);
        held_go(&other, 0);
        held_join(&other);
        ends(other.child, FORKLESS_EXITED, 7);
        close(other.listener);
    }
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(c);
}

TEST(command_is_freed_before_exec) {
    forkless_command *c = probe("exit", "7", NULL), *others[50];
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_close_range};
    held_begin(&h);
    held_join(&h);
    forkless_command_free(c);
    for (int i = 0; i < 50; i++)
        others[i] = probe("exit", "9", NULL);
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    for (int i = 0; i < 50; i++)
        forkless_command_free(others[i]);
}

/* The child goes on; other children take no memory of its. */
static void handle_is_freed(int code) {
    forkless_command *c = probe("exit", "7", NULL);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    forkless_child_free(h.child);
    forkless_command_free(c);
    c = probe("exit", "9", NULL);
    forkless_child *others[40];
    for (int i = 0; i < 40; i++)
        others[i] = launched(forkless_start, c);
    held_go(&h, code);
    siginfo_t info = {0};
    unsigned options = WEXITED | WNOWAIT | __WALL;
    CHECK_EQ(waitid(P_PID, (id_t)h.pid, &info, (int)options), 0);
    CHECK_EQ(info.si_status, code ? 127 : 7);
    /* Only the one that has exec'd is the host's to reap; the other will be reaped here. */
    CHECK_EQ(waitpid(h.pid, NULL, 0), code ? -1 : h.pid);
    for (int i = 0; i < 40; i++)
        ends(others[i], FORKLESS_EXITED, 9);
    for (int i = 0; i < 60; i++)
        others[i % 40] = launched(forkless_spawn, c), ends(others[i % 40], FORKLESS_EXITED, 9);
    for (int i = 0; i < 40; i++)
        others[i] = launched(forkless_start, c);
    for (int i = 0; i < 40; i++)
        ends(others[i], FORKLESS_EXITED, 9);
    forkless_command_free(c);
    close(h.listener);
}

TEST(handle_is_freed_before_exec) {
    no_leak_check();
    handle_is_freed(0);
    check_no_child();
}

/* Dead or alive when its handle is freed, what has exec'd is never reaped here. */
TEST(freed_children_are_the_hosts_to_reap) {
    forkless_command *c = probe("exit", "7", NULL);
    for (int i = 0; i < 20; i++) {
        forkless_child *child = launched(launchers[i % 2], c);
        pid_t pid = forkless_pid(child);
        siginfo_t info;
        int status;
        if (i % 4 < 2)
            CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL), 0);
        forkless_child_free(child);
        CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL), 0);
        ends(launched(launchers[i % 2], c), FORKLESS_EXITED, 7);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    forkless_command_free(c);
    check_no_child();
}

TEST(handle_is_freed_before_failing_exec) {
    handle_is_freed(-ENOENT);
    check_no_child();
}

TEST(exec_fails_late) {
    forkless_command *c = probe("exit", NULL);
    for (int l = 0; l < 2; l++) {
        forkless_error error;
        struct held h = {.command = c, .launch = launchers[l], .number = SYS_execve};
        held_begin(&h);
        if (l == 1)
            held_join(&h);
        held_go(&h, -ETXTBSY);
        if (l == 0)
            held_join(&h);
        error = h.error;
        if (l == 0)
            CHECK_EQ(h.rc, -ETXTBSY);
        else
            CHECK_EQ(forkless_wait(h.child, FORKLESS_NEVER, NULL, &error), -ETXTBSY);
        CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
        forkless_child_free(h.child);
        close(h.listener);
    }
    forkless_command_free(c);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_returns_before_exec),
        cmocka_unit_test(spawn_returns_after_exec),
        cmocka_unit_test(b32_killed_before_exec),
        cmocka_unit_test(b32_killed_by_the_handle_before_exec),
        cmocka_unit_test(b32_killed_around_exec),
        cmocka_unit_test(b32_stopped_and_killed_in_exec),
        cmocka_unit_test(b32_stopped_and_killed_after_exec),
        cmocka_unit_test(b62_stopped_before_exec),
        cmocka_unit_test(callers_thread_ends_before_exec),
        cmocka_unit_test(command_is_freed_before_exec),
        cmocka_unit_test(handle_is_freed_before_exec),
        cmocka_unit_test(freed_children_are_the_hosts_to_reap),
        cmocka_unit_test(handle_is_freed_before_failing_exec),
        cmocka_unit_test(exec_fails_late),
    };
    return RUN(tests);
}
