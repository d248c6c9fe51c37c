/* B83: children that end with what started them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static forkless_command *mortal(void) {
    forkless_command *c = probe("pause", NULL);
    CHECK_EQ(forkless_command_death_signal(c, SIGKILL), 0);
    return c;
}

struct brief {
    const struct route *route;
    forkless_child *child;
};

static void *start_and_end(void *argument) {
    struct brief *b = argument;
    forkless_command *c = mortal();
    b->child = launched(b->route->launch, c);
    forkless_command_free(c);
    return NULL;
}

static void thread_ends(const struct route *r) {
    for (int i = 0; i < 20; i++) {
        struct brief b = {.route = r};
        CHECK_EQ(pthread_join(thread(start_and_end, &b), NULL), 0);
        ends(b.child, FORKLESS_KILLED, SIGKILL);
    }
    /* Not by another's end. */
    forkless_command *c = mortal();
    forkless_child *child = launched(r->launch, c);
    struct brief b = {.route = r};
    CHECK_EQ(pthread_join(thread(start_and_end, &b), NULL), 0);
    ends(b.child, FORKLESS_KILLED, SIGKILL);
    CHECK_EQ(forkless_wait(child, from_now(20), NULL, NULL), -ETIMEDOUT);
    CHECK_EQ(forkless_kill(child, SIGTERM, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, SIGTERM);
    forkless_command_free(c);
    check_no_child();
}

TEST(b83_the_thread_ends) {
    on_each_route(thread_ends);
}

/* A thread cannot end before its child is bound to it. */
TEST(b83_the_thread_waits) {
    forkless_command *c = mortal();
    for (int l = 0; l < 2; l++) {
        struct held h = {.command = c, .launch = launchers[l], .number = SYS_prctl};
        held_begin(&h);
        nap(20000);
        CHECK_EQ(pthread_tryjoin_np(h.thread, NULL), EBUSY);
        held_go(&h, 0);
        held_join(&h);
        CHECK_EQ(h.rc, 0);
        ends(h.child, FORKLESS_KILLED, SIGKILL);
        close(h.listener);
    }
    forkless_command_free(c);
}

/* The caller: is killed when it says that it is about to start. */
static void start_for_ever(launcher *launch, _Atomic int *ready) {
    forkless_command *c = mortal();
    *ready = 1;
    forkless_child *child = launched(launch, c);
    forkless_wait(child, FORKLESS_NEVER, NULL, NULL);
}

static void killed_around_clone(launcher *launch, _Atomic int *ready, int delay) {
    int status;
    *ready = 0;
    pid_t parent = forked();
    if (parent == 0) {
        start_for_ever(launch, ready);
        _exit(1);
    }
    while (!*ready)
        sched_yield();
    for (volatile int spin = 0; spin < delay; spin++)
        ;
    CHECK_EQ(kill(parent, SIGKILL), 0);
    CHECK_EQ(waitpid(parent, &status, 0), parent);
    CHECK(WIFSIGNALED(status));
    while (waitpid(-1, &status, __WALL) > 0) /* its child is ours now; one that lives holds us */
        CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 127);
    CHECK_EQ(errno, ECHILD);
}

TEST(b83_the_parent_is_killed_around_clone) {
    _Atomic int *ready =
        mmap(NULL, sizeof *ready, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)ready != MAP_FAILED);
    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    srand(83);
    for (int i = 0; i < count(2000); i++)
        killed_around_clone(launchers[i % 2], ready, rand() % 100000);
}

struct notice {
    _Atomic int listener;
    uint64_t id;
};

/* Held where it binds itself until its parent is gone. */
static void parent_gone(int l) {
    struct notice *notice =
        mmap(NULL, sizeof *notice, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)notice != MAP_FAILED);
    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t parent = forked();
    if (parent == 0) {
        struct held h = {.command = mortal(), .launch = launchers[l], .number = SYS_prctl};
        held_begin(&h);
        notice->id = h.id;
        notice->listener = h.listener;
        for (;;)
            pause();
    }
    while (!notice->listener)
        nap(1000);
    int pidfd = (int)syscall(SYS_pidfd_open, parent, 0), status;
    struct held h = {.id = notice->id};
    h.listener = (int)syscall(SYS_pidfd_getfd, pidfd, notice->listener, 0);
    if (h.listener < 0)
        skip_test("no pidfd_getfd");
    CHECK_EQ(kill(parent, SIGKILL), 0);
    CHECK_EQ(waitpid(parent, &status, 0), parent);
    held_go(&h, 0);
    CHECK(waitpid(-1, &status, __WALL) > 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

TEST(b83_too_late) {
    in_process(parent_gone, 0);
    in_process(parent_gone, 1);
}

/* Its parent has no number there. */
TEST(the_first_of_a_pid_namespace) {
    no_leak_check();
    if (unshare(CLONE_NEWPID) < 0)
        skip_test("no pid namespaces");
    forkless_command *c = mortal();
    forkless_child *child = launched(forkless_start, c);
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b83_the_thread_ends),
        cmocka_unit_test(b83_the_thread_waits),
        cmocka_unit_test(b83_the_parent_is_killed_around_clone),
        cmocka_unit_test(b83_too_late),
        cmocka_unit_test(the_first_of_a_pid_namespace),
    };
    return RUN(tests);
}
