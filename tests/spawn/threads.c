/* Many threads: cancelled, allocating, writing programs, killing each other's children. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "others.h"
#include "support.h"

/* ---- B25: others hold the locks of malloc and environ ---- */

static void *spawn_and_fail(void *commands) {
    forkless_command **c = commands;
    for (int i = 0; i < count(10000) / 4; i++) {
        ends(launched(launchers[i % 2], c[0]), FORKLESS_EXITED, 7);
        fails(launchers[i % 2], c[1], -ENOENT, FORKLESS_STEP_EXEC, -1);
    }
    return NULL;
}

TEST(b25_while_others_allocate) {
    forkless_command *commands[] = {probe("exit", "7", NULL), command("/nonexistent", NULL)};
    pthread_t busy[5], spawners[4];
    for (int i = 0; i < 5; i++)
        busy[i] = thread(i ? allocate : change_environment, NULL);
    for (int i = 0; i < 4; i++)
        spawners[i] = thread(spawn_and_fail, commands);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(spawners[i], NULL), 0);
    done = true;
    for (int i = 0; i < 5; i++)
        CHECK_EQ(pthread_join(busy[i], NULL), 0);
    forkless_command_free(commands[0]);
    forkless_command_free(commands[1]);
    check_no_child();
}

/* ---- B32, B114: a thread that kills every child it sees ---- */

static void survive_killer(int n) {
    forkless_command *plain = probe("exit", "7", NULL), *piped = probe("exit", "7", NULL);
    forkless_command *bad = command("/nonexistent", NULL);
    CHECK_EQ(forkless_command_pipe(piped, 0, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_pipe(bad, 1, FORKLESS_WRITES), 0);
    for (int i = 0; i < n; i++) {
        forkless_status status;
        forkless_child *child = launched(launchers[i % 2], i / 2 % 2 ? plain : piped);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, &status, NULL), 0);
        CHECK(status.how == FORKLESS_EXITED ? status.code == 7 : status.code == SIGKILL);
        forkless_child_free(child);
        if (launchers[i % 2](bad, &child, NULL) == 0)
            forkless_wait(child, FORKLESS_NEVER, NULL, NULL);
        forkless_child_free(child);
    }
    done = true;
    forkless_command_free(plain);
    forkless_command_free(piped);
    forkless_command_free(bad);
}

TEST(b32_a_killer_of_children) {
    if (access("/proc/thread-self/children", R_OK) < 0)
        skip_test("/proc tells no children");
    for (int refused = 0; refused < 2; refused++) {
        done = false;
        int lowest = dup(0);
        close(lowest);
        pthread_t killer = thread(kill_children, NULL);
        if (refused)
            refuse(SYS_clone3, ENOSYS);
        survive_killer(count(10000));
        CHECK_EQ(pthread_join(killer, NULL), 0);
        CHECK_EQ(dup(0), lowest); /* no end of a pipe is left */
        close(lowest);
        forkless_command *c = probe("exit", "7", NULL); /* B114: nothing is held */
        for (int l = 0; l < 2; l++)
            ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
        forkless_command_free(c);
        check_no_child();
    }
}

/* ---- B113: cancellation ---- */

enum { STARTS = 64 };

struct cancelled {
    const forkless_command *command;
    int type;
    forkless_child *children[STARTS];
};

static const forkless_override one_more = {.arguments = (const char *const[]){"more", NULL}};

static int start_with(const forkless_command *c, int i, forkless_child **child) {
    return (i % 2 ? forkless_start_with : forkless_spawn_with)(c, i % 3 ? &one_more : NULL, child,
                                                               NULL);
}

/* With a pipe, and sometimes with an override. */
static void *start_until_cancelled(void *argument) {
    struct cancelled *c = argument;
    pthread_setcanceltype(c->type, NULL);
    for (int i = 0; i < STARTS; i++) {
        if (start_with(c->command, i, &c->children[i]) == 0)
            forkless_wait(c->children[i], FORKLESS_NEVER, NULL, NULL);
        pthread_testcancel();
    }
    return NULL;
}

static void end_all(struct cancelled *c) {
    for (int i = 0; i < STARTS && c->children[i]; i++)
        ends(c->children[i], FORKLESS_EXITED, 7);
}

static void cancel_some(int type) {
    static struct snapshot before;
    forkless_command *c = probe("exit", "7", NULL);
    CHECK_EQ(forkless_command_pipe(c, 1, FORKLESS_WRITES), 0);
    srand(113);
    for (int i = 0; i < count(2000); i++) {
        struct cancelled all = {.command = c, .type = type};
        pthread_t t = thread(start_until_cancelled, &all);
        if (i > 0) {
            nap(rand() % 4000);
            pthread_cancel(t);
        }
        CHECK_EQ(pthread_join(t, NULL), 0);
        end_all(&all);
        if (i == 1)
            snapshot_take(&before);
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

TEST(b113_cancelled_at_cancellation_points) {
    cancel_some(PTHREAD_CANCEL_DEFERRED);
}

TEST(b113_cancelled_at_any_moment) {
    if (sanitized())
        skip_test("sanitizers cannot be cancelled at any moment");
    cancel_some(PTHREAD_CANCEL_ASYNCHRONOUS);
}

static void *ask_until_cancelled(void *child) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        forkless_kill(child, 0, FORKLESS_CHILD);
        forkless_pidfd(child);
        forkless_wait(child, 0, NULL, NULL);
    }
    return NULL;
}

/* Nobody may die with the handle's lock. */
TEST(b113_cancelled_while_asking) {
    if (sanitized())
        skip_test("sanitizers cannot be cancelled at any moment");
    forkless_command *c = probe("pause", NULL);
    forkless_child *child = launched(forkless_spawn, c);
    srand(1130);
    for (int i = 0; i < count(4000); i++) {
        pthread_t t = thread(ask_until_cancelled, child);
        nap(rand() % 300);
        pthread_cancel(t);
        CHECK_EQ(pthread_join(t, NULL), 0);
        CHECK_EQ(forkless_kill(child, 0, FORKLESS_CHILD), 0);
    }
    CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
    ends(child, FORKLESS_KILLED, SIGKILL);
    forkless_command_free(c);
}

static atomic_int passed;

static void *call_everything(void *unused) {
    pthread_cancel(pthread_self());
    for (int l = 0; l < 2; l++) {
        forkless_command *c = probe("pause", NULL), *bad = command("/nonexistent", NULL);
        CHECK_EQ(forkless_command_fd(c, 5, 0), 0);
        CHECK_EQ(forkless_command_file(c, 6, "/dev/null", O_RDWR, 0), 0);
        CHECK_EQ(forkless_command_pipe(c, 7, FORKLESS_READS), 0);
        CHECK_EQ(forkless_command_env(c, (char *[]){"A=b", NULL}), 0);
        CHECK_EQ(forkless_command_setenv(c, "B", "c"), 0);
        forkless_child *child = launched(launchers[l], c);
        CHECK(forkless_pidfd(child) >= 0);
        CHECK(forkless_child_pipe(child, 7) >= 3);
        CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
        CHECK_EQ(forkless_wait(child, from_now(5), NULL, NULL), -ETIMEDOUT);
        CHECK_EQ(forkless_kill(child, SIGKILL, FORKLESS_CHILD), 0);
        CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
        ends(child, FORKLESS_KILLED, SIGKILL);
        fails(launchers[l], bad, -ENOENT, FORKLESS_STEP_EXEC, -1);
        forkless_command_free(c);
        forkless_command_free(bad);
        passed++;
    }
    pthread_testcancel();
    passed = -1;
    return unused;
}

TEST(b113_no_function_is_a_cancellation_point) {
    void *result;
    pthread_t t = thread(call_everything, NULL);
    CHECK_EQ(pthread_join(t, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(passed, 2);
}

/* ---- B108: programs that were just written ---- */

static atomic_int busy;

/* Another thread's child may hold our writing descriptor until its exec: exec says so, and says
 * otherwise a moment later. */
static void *write_and_run(void *number) {
    for (int i = 0; i < count(2000) / 20; i++) {
        char path[64];
        forkless_child *child;
        forkless_error error;
        snprintf(path, sizeof path, "/tmp/spawn-test-%d-%ld-%d", getpid(), (long)number, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
        CHECK_EQ(write(fd, "#!/bin/sh\nexit 3\n", 17), 17);
        close(fd);
        forkless_command *c = command(path, NULL);
        while (forkless_spawn(c, &child, &error) < 0) {
            CHECK_EQ(error.code, -ETXTBSY);
            CHECK_EQ(error.step, FORKLESS_STEP_EXEC);
            busy++;
            nap(500);
        }
        ends(child, FORKLESS_EXITED, 3);
        unlink(path);
        forkless_command_free(c);
    }
    return NULL;
}

TEST(b108_programs_just_written) {
    pthread_t threads[20];
    for (long i = 0; i < 20; i++)
        threads[i] = thread(write_and_run, (void *)i);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    fprintf(stderr, "ETXTBSY: %d times\n", busy);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b25_while_others_allocate),
        cmocka_unit_test(b32_a_killer_of_children),
        cmocka_unit_test(b108_programs_just_written),
        cmocka_unit_test(b113_cancelled_at_cancellation_points),
        cmocka_unit_test(b113_cancelled_at_any_moment),
        cmocka_unit_test(b113_cancelled_while_asking),
        cmocka_unit_test(b113_no_function_is_a_cancellation_point),
    };
    return RUN(tests);
}
