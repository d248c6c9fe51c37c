/* What the library does to the process that it is in, and what that process does to it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* ---- the host's own fork() ---- */

static void is_the_parents(forkless_child *old) {
    forkless_error error;
    CHECK_EQ(forkless_wait(old, 0, NULL, &error), -ECHILD);
    CHECK_EQ(error.step, FORKLESS_STEP_WAIT);
    CHECK_EQ(forkless_wait(old, FORKLESS_NEVER, NULL, &error), -ECHILD);
    CHECK_EQ(forkless_kill(old, SIGKILL, FORKLESS_CHILD), -ESRCH);
    CHECK_EQ(forkless_pidfd(old), -ESRCH);
    forkless_child_free(old);
}

static void in_forked(forkless_child *const *old, forkless_command *c, forkless_command *own) {
    forkless_child *children[40];
    is_the_parents(old[0]);
    forkless_command_free(c);
    for (int i = 0; i < 40; i++)
        children[i] = launched(launchers[i % 2], own);
    is_the_parents(old[0]);
    is_the_parents(old[1]);
    for (int i = 0; i < 40; i++)
        ends(children[i], FORKLESS_EXITED, 9);
    check_no_child();
    _exit(0);
}

TEST(host_forks_before_exec) {
    forkless_command *c = probe("exit", "7", NULL), *own = probe("exit", "9", NULL);
    struct held h = {.command = c, .launch = forkless_start, .number = SYS_execve};
    held_begin(&h);
    held_join(&h);
    forkless_child *old[] = {h.child, launched(forkless_spawn, own)};
    pid_t pid = forked();
    if (pid == 0)
        in_forked(old, c, own);
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(forkless_wait(h.child, 0, NULL, NULL), -ETIMEDOUT);
    held_go(&h, 0);
    ends(h.child, FORKLESS_EXITED, 7);
    ends(old[1], FORKLESS_EXITED, 9);
    forkless_command_free(c);
    forkless_command_free(own);
    check_no_child();
}

/* ---- B112: another thread forks and keeps what it copied ---- */

static void *fork_and_pause(void *pids) {
    for (int i = 0; i < 20; i++) {
        pid_t pid = forked();
        if (pid == 0)
            for (;;)
                pause();
        ((pid_t *)pids)[i] = pid;
    }
    return NULL;
}

TEST(b112_forks_meanwhile) {
    pid_t pids[20];
    pthread_t forks = thread(fork_and_pause, pids);
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    for (int i = 0; i < 100; i++) {
        ends(launched(launchers[i % 2], good), FORKLESS_EXITED, 7);
        fails(launchers[i % 2], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
    }
    CHECK_EQ(pthread_join(forks, NULL), 0);
    for (int i = 0; i < 20; i++) {
        kill(pids[i], SIGKILL);
        CHECK_EQ(waitpid(pids[i], NULL, 0), pids[i]);
    }
    forkless_command_free(good);
    forkless_command_free(bad);
}

/* ---- B94, B99, B104: nothing of the host's runs or changes ---- */

static int forks_seen;

static void fork_seen(void) {
    forks_seen++;
}

TEST(b99_no_fork_handlers) {
    pthread_atfork(fork_seen, fork_seen, fork_seen);
    forkless_command *c = probe("exit", "7", NULL);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    refuse(SYS_clone3, ENOSYS);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    CHECK_EQ(forks_seen, 0);
    forkless_command_free(c);
}

extern char __data_start, _end, **environ;

static void check_data_stays(launcher *launch, forkless_command *c) {
    size_t size = (size_t)(&_end - &__data_start);
    char *copy = malloc(size), **env = environ, *first = environ[0];
    memcpy(copy, &__data_start, size);
    errno = 12345;
    forkless_child *child;
    CHECK_EQ(launch(c, &child, NULL), 0);
    forkless_status status;
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
    forkless_child_free(child);
    CHECK_EQ(errno, 12345);
    CHECK(memcmp(copy, &__data_start, size) == 0);
    CHECK(environ == env && environ[0] == first);
    free(copy);
}

TEST(b94_data_of_the_host_stays) {
    if (sanitized())
        skip_test("sanitizers keep books there");
    forkless_command *c = probe("exit", NULL);
    CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_file(c, 1, "/dev/null", O_RDWR, 0), 0);
    CHECK_EQ(forkless_command_memory(c, 2, "12345", 5), 0);
    for (int l = 0; l < 2; l++) {
        ends(launched(launchers[l], c), FORKLESS_EXITED, 0);
        check_data_stays(launchers[l], c);
    }
    forkless_command_free(c);
}

TEST(b104_thread_stays_itself) {
    forkless_command *c = command("/nonexistent", NULL);
    pid_t tid = gettid(), pid = getpid();
    for (int l = 0; l < 2; l++) {
        fails(launchers[l], c, -ENOENT, FORKLESS_STEP_EXEC, -1);
        CHECK(gettid() == tid && getpid() == pid);
        sigset_t user, old;
        sigemptyset(&user);
        sigaddset(&user, SIGUSR1);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &user, &old), 0);
        CHECK_EQ(raise(SIGUSR1), 0);
        siginfo_t info;
        CHECK_EQ(sigwaitinfo(&user, &info), SIGUSR1);
        CHECK_EQ(info.si_pid, pid);
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    }
    forkless_command_free(c);
}

/* ---- B64, B65: others reap, and the pipes say when it is over ---- */

/* Its input becomes its output, by pipes. */
static forkless_command *copying(void) {
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_WRITES), 0);
    return c;
}

static forkless_child *copied(launcher *launch, const forkless_command *c) {
    char text[16];
    forkless_child *child = launched(launch, c);
    int in = forkless_child_pipe(child, 0), out = forkless_child_pipe(child, 1);
    CHECK_EQ(write(in, "through", 7), 7);
    CHECK_EQ(close(in), 0);
    CHECK_EQ(read(out, text, sizeof text), 7);
    CHECK_EQ(read(out, text, sizeof text), 0);
    CHECK_EQ(close(out), 0);
    return child;
}

TEST(b64_pipes_with_sigchld_ignored) {
    signal(SIGCHLD, SIG_IGN);
    forkless_command *c = copying();
    for (int i = 0; i < count(1000); i++) {
        forkless_status status;
        forkless_child *child = copied(launchers[i % 2], c);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK_EQ(status.code, 0); /* unknown, or known by a pidfd */
        CHECK(status.how == FORKLESS_UNKNOWN || status.how == FORKLESS_EXITED);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    check_no_child();
}

/* It may be nobody's child for waitpid until its exec, but it writes after it. */
TEST(b65_pipes_with_a_host_that_waits_for_any) {
    forkless_command *c = copying();
    for (int i = 0; i < count(1000); i++) {
        int status;
        forkless_child *child = copied(launchers[i % 2], c);
        CHECK_EQ(waitpid(-1, &status, 0), forkless_pid(child));
        CHECK_EQ(status, 0);
        CHECK_EQ(waitpid(-1, &status, 0), -1);
        ends(child, FORKLESS_UNKNOWN, 0);
    }
    forkless_command_free(c);
}

/* ---- B72: as init of a container ---- */

static void as_init(void) {
    CHECK_EQ(getpid(), 1);
    forkless_command *good = probe("exit", "7", NULL), *bad = command("/nonexistent", NULL);
    forkless_command *copies = copying();
    forkless_command *orphans =
        command("/bin/sh", "-c", "for i in 1 2 3; do (" PROBE " exit 5) & done; exit 3", NULL);
    for (int i = 0; i < 10; i++) {
        forkless_child *parent = launched(launchers[i % 2], orphans);
        ends(launched(launchers[i % 2], good), FORKLESS_EXITED, 7);
        ends(copied(launchers[i % 2], copies), FORKLESS_EXITED, 0);
        fails(launchers[i % 2], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
        ends(parent, FORKLESS_EXITED, 3);
    }
    int status;
    while (waitpid(-1, &status, 0) > 0)
        CHECK_EQ(WEXITSTATUS(status), 5);
    check_no_child();
    refuse(SYS_clone3, EPERM);
    for (int l = 0; l < 2; l++) {
        ends(launched(launchers[l], good), FORKLESS_EXITED, 7);
        ends(copied(launchers[l], copies), FORKLESS_EXITED, 0);
    }
}

TEST(b72_as_init) {
    no_leak_check();
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    pid_t init = forked();
    if (init == 0) {
        as_init();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(init, &status, 0), init);
    CHECK_EQ(status, 0);
}

/* ---- B35: the host is killed at any moment ---- */

static _Noreturn void spawn_for_ever(void) {
    forkless_command *c = probe("exit", NULL), *bad = command("/nonexistent", NULL);
    for (;;)
        for (int l = 0; l < 2; l++) {
            forkless_child *child;
            if (launchers[l](c, &child, NULL) == 0)
                forkless_wait(child, FORKLESS_NEVER, NULL, NULL);
            forkless_child_free(child);
            launchers[l](bad, &child, NULL);
            forkless_child_free(child);
        }
}

/* Whatever it leaves behind becomes our child, and ends. */
TEST(b35_host_is_killed) {
    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    srand(35);
    for (int i = 0; i < count(1000); i++) {
        pid_t host = forked();
        if (host == 0)
            spawn_for_ever();
        nap(rand() % 3000);
        kill(host, SIGKILL);
        CHECK_EQ(waitpid(host, NULL, 0), host);
        while (waitpid(-1, NULL, __WALL) > 0)
            ;
        CHECK_EQ(errno, ECHILD);
    }
}

/* ---- the library is unloaded while a child runs its code ---- */

struct library {
    void *handle;
    int (*command_new)(forkless_command **, const char *);
    launcher *start;
    int (*wait)(forkless_child *, int64_t, forkless_status *, forkless_error *);
};

static void *load(struct library *l) {
    l->handle = dlopen(LIBFORKLESS, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        check_failed(__FILE__, __LINE__, dlerror());
    *(void **)&l->command_new = dlsym(l->handle, "forkless_command_new");
    *(void **)&l->start = dlsym(l->handle, "forkless_start");
    *(void **)&l->wait = dlsym(l->handle, "forkless_wait");
    CHECK(l->command_new && l->start && l->wait);
    return l->handle;
}

TEST(library_is_unloaded_before_exec) {
    struct library l;
    forkless_status status;
    forkless_command *c;
    load(&l);
    CHECK_EQ(l.command_new(&c, PROBE), 0);
    struct held h = {.command = c, .launch = l.start, .number = SYS_close_range};
    held_begin(&h);
    held_join(&h);
    dlclose(l.handle);
    held_go(&h, 0);
    load(&l);
    CHECK_EQ(l.wait(h.child, FORKLESS_NEVER, &status, NULL), 0);
    CHECK_EQ(status.how, FORKLESS_EXITED);
    CHECK_EQ(status.code, 0);
    _exit(0); /* with the command, whose owner is gone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_forks_before_exec),
        cmocka_unit_test(b112_forks_meanwhile),
        cmocka_unit_test(b99_no_fork_handlers),
        cmocka_unit_test(b94_data_of_the_host_stays),
        cmocka_unit_test(b104_thread_stays_itself),
        cmocka_unit_test(b64_pipes_with_sigchld_ignored),
        cmocka_unit_test(b65_pipes_with_a_host_that_waits_for_any),
        cmocka_unit_test(b72_as_init),
        cmocka_unit_test(b35_host_is_killed),
        cmocka_unit_test(library_is_unloaded_before_exec),
    };
    return RUN(tests);
}
