/* Runs in hosts that do a lot beside: forks, timers, waiting for any child; as init. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run_support.h"
#include "support.h"

static atomic_bool done;

/* ---- B18: pipes of a child in a fork of the host ---- */

/* A fork copies what is there, and keeps it until it ends; then all comes to its end, too. */
static void *fork_now_and_then(void *forks) {
    while (!done) {
        pid_t pid = forked();
        if (pid == 0) {
            nap(3000);
            _exit(0);
        }
        CHECK_EQ(waitpid(pid, NULL, 0), pid);
        (*(int *)forks)++;
    }
    return NULL;
}

TEST(b18_b112_beside_forks) {
    int forks = 0;
    char *data = patterned(100000);
    pthread_t forker = thread(fork_now_and_then, &forks);
    for (int i = 0; i < count(1000); i++) {
        forkless_result r = ran(
            command("/bin/cat", NULL),
            &(forkless_run_options){.input = data, .input_size = 100000, .linger_ns = 20000000000});
        has_exited(&r, 0);
        CHECK(r.output_size == 100000 && memcmp(r.output, data, 100000) == 0);
        CHECK(!r.writers_remained);
        forkless_result_free(&r);
    }
    done = true;
    CHECK_EQ(pthread_join(forker, NULL), 0);
    CHECK(forks > 0);
    free(data);
    check_no_child();
}

/* ---- B65: the host waits for any child ---- */

static void *steal(void *unused) {
    while (!done)
        if (waitpid(-1, NULL, 0) < 0)
            nap(20);
    return unused;
}

TEST(b65_host_reaps_everything) {
    char *data = patterned(100000);
    pthread_t thief = thread(steal, NULL);
    for (int i = 0; i < count(2000); i++)
        copied(data, 100000, FORKLESS_UNKNOWN);
    forkless_run_options options = {.deadline_ns = from_now(50)};
    forkless_result r = ran(shell("echo x; sleep 60 & sleep 60"), &options);
    CHECK(r.timed_out && !r.writers_remained);
    has_text(r.output, r.output_size, "x\n");
    forkless_result_free(&r);
    done = true;
    CHECK_EQ(pthread_join(thief, NULL), 0);
    free(data);
}

/* ---- B72: as init of a container, whose children all orphans become ---- */

/* Its zombies are there until the host reaps them, and /proc tells them from the living. */
static void as_init(bool proc) {
    int least = 0;
    CHECK_EQ(getpid(), 1);
    for (int i = 0; i < 5; i++) {
        forkless_run_options options = {.deadline_ns = from_now(50),
                                        .grace_ns = proc ? 20000000000 : 100000000};
        forkless_result r = ran(shell("sleep 60 & echo x; exec sleep 60"), &options);
        bool late = r.output_size == 0; /* at its deadline it had not come so far */
        least += !late;
        CHECK(r.timed_out && !r.writers_remained);
        CHECK(late || r.survivors == !proc);
        CHECK_EQ(r.status.code, SIGTERM);
        forkless_result_free(&r);
        r = ran(shell("echo x; sleep 0.02 & exit 3"), NULL);
        has_exited(&r, 3);
        least++;
        forkless_result_free(&r);
    }
    int orphans = 0;
    while (wait(NULL) > 0)
        orphans++;
    CHECK(orphans >= least && orphans <= 10);
}

static void in_namespaces(int proc) {
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    pid_t init = forked();
    if (init == 0) {
        if (proc &&
            (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
             mount("proc", "/proc", "proc", 0, NULL) < 0))
            _exit(77);
        as_init(proc);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(init, &status, 0), init);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_test("no mount namespaces");
    CHECK_EQ(status, 0);
}

TEST(b72_as_init) {
    no_leak_check();
    for (int proc = 0; proc < 2; proc++)
        in_process(in_namespaces, proc);
}

/* ---- B55, B34: signals all the time ---- */

static atomic_int handled;
static pid_t host;

static void on_alarm(int signal) {
    (void)signal;
    if (getpid() != host)
        _exit(99);
    handled++;
}

TEST(b34_b55_timer_storm) {
    const struct itimerspec each = {{0, 200000}, {0, 200000}};
    const struct sigaction action = {.sa_handler = on_alarm};
    timer_t timer;
    host = getpid();
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
    CHECK_EQ(timer_settime(timer, 0, &each, NULL), 0);
    char *data = patterned(300000);
    for (int i = 0; i < count(1000); i++)
        copied(data, 300000, FORKLESS_EXITED);
    CHECK_EQ(timer_delete(timer), 0);
    CHECK(handled > 0);
    free(data);
    check_no_child();
}

/* ---- a tracer that does not look: its tracee cannot be reaped, even after SIGKILL ---- */

static int other_child_of(int parent) {
    char path[64];
    int first = 0, second = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    FILE *children = fopen(path, "re");
    CHECK(children != NULL);
    int n = fscanf(children, "%d %d", &first, &second);
    fclose(children);
    return n == 2 ? (first == getpid() ? second : first) : -1;
}

static void trace_the_other(const char *fifo) {
    int pid;
    while ((pid = other_child_of(getppid())) < 0)
        nap(1000);
    int go = open(fifo, O_WRONLY | O_CLOEXEC); /* it is past its exec */
    CHECK_EQ(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
    CHECK_EQ(write(go, "\n", 1), 1);
    for (;;)
        pause();
}

TEST(child_that_was_given_up_leaves_no_zombie) {
    char fifo[64];
    snprintf(fifo, sizeof fifo, "/tmp/forkless-traced-%d", getpid());
    CHECK_EQ(mkfifo(fifo, 0600), 0);
    pid_t tracer = forked();
    if (tracer == 0)
        trace_the_other(fifo);
    forkless_command *c = command("/bin/sh", "-c", "read x <$0; echo long; sleep 60", fifo, NULL);
    forkless_run_options options = {.limit = 1, .at_limit = FORKLESS_END, .grace_ns = 50000000};
    forkless_result r = ran(c, &options);
    CHECK(r.limited && r.survivors);
    CHECK_EQ(r.status.how, FORKLESS_UNKNOWN);
    forkless_result_free(&r);
    CHECK_EQ(unlink(fifo), 0);
    CHECK_EQ(kill(tracer, SIGKILL), 0);
    CHECK_EQ(waitpid(tracer, NULL, 0), tracer);
    siginfo_t info;
    CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL), 0);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b18_b112_beside_forks),
        cmocka_unit_test(b65_host_reaps_everything),
        cmocka_unit_test(b72_as_init),
        cmocka_unit_test(b34_b55_timer_storm),
        cmocka_unit_test(child_that_was_given_up_leaves_no_zombie),
    };
    return RUN(tests);
}
