/* Threads that do everything at once, and none that holds up another. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "others.h"
#include "support.h"

/* ---- what others do meanwhile ---- */

static void *fork_and_exit(void *unused) {
    while (!done) {
        pid_t pid = forked();
        if (pid == 0)
            _exit(3);
        int status;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 3 << 8);
        nap(500);
    }
    return unused;
}

static void *open_and_close(void *unused) {
    for (int i = 0; !done; i++) {
        int fd = open("/dev/null", i % 2 ? O_RDWR | O_CLOEXEC : O_RDWR), to = 500 + i % 50;
        CHECK_EQ(dup2(fd, to), to);
        CHECK_EQ(close(fd), 0);
        CHECK_EQ(close(to), 0);
        sched_yield();
    }
    return unused;
}

static void *nothing(void *unused) {
    return unused;
}

static void *make_threads(void *unused) {
    while (!done) {
        CHECK_EQ(pthread_join(thread(nothing, NULL), NULL), 0);
        sched_yield();
    }
    return unused;
}

/* ---- spawns of every kind ---- */

struct commands {
    forkless_command *exits, *fails, *copies;
};

static struct commands commands_new(void) {
    struct commands c = {probe("exit", NULL), command("/nonexistent", NULL), probe("cat", NULL)};
    CHECK_EQ(forkless_command_pipe(c.copies, 0, FORKLESS_READS), 0);
    CHECK_EQ(forkless_command_pipe(c.copies, 1, FORKLESS_WRITES), 0);
    CHECK_EQ(forkless_command_same(c.copies, 2, 1), 0);
    CHECK_EQ(forkless_command_pipe(c.fails, 1, FORKLESS_WRITES), 0);
    return c;
}

static void commands_free(struct commands *c) {
    forkless_command_free(c->exits);
    forkless_command_free(c->fails);
    forkless_command_free(c->copies);
}

static void exit_with(const struct commands *c, int i) {
    char code[8];
    forkless_child *child;
    const struct forkless_map maps[] = {{1, 2}, {9, 0}};
    const char *const more[] = {code, NULL};
    const forkless_override o = {.arguments = more, .maps = maps, .map_count = (size_t)(i % 3)};
    snprintf(code, sizeof code, "%d", i % 250);
    CHECK_EQ((i % 2 ? forkless_start_with : forkless_spawn_with)(c->exits, &o, &child, NULL), 0);
    ends(child, FORKLESS_EXITED, i % 250);
}

static void copy_with(const struct commands *c, int i) {
    char text[32] = "", word[32];
    int length = snprintf(word, sizeof word, "word %d of %d", i, gettid());
    forkless_child *child = launched(launchers[i % 2], c->copies);
    int in = forkless_child_pipe(child, 0), out = forkless_child_pipe(child, 1);
    CHECK_EQ(write(in, word, (size_t)length), length);
    CHECK_EQ(close(in), 0);
    CHECK_EQ(read(out, text, sizeof text), length);
    CHECK(strcmp(text, word) == 0);
    CHECK_EQ(read(out, text, sizeof text), 0);
    CHECK_EQ(close(out), 0);
    ends(child, FORKLESS_EXITED, 0);
}

static int rounds; /* of each thread */

static void *spawn_all(void *commands) {
    for (int i = 0; i < rounds; i++) {
        exit_with(commands, i);
        copy_with(commands, i);
        fails(launchers[i % 2], ((struct commands *)commands)->fails, -ENOENT, FORKLESS_STEP_EXEC,
              -1);
    }
    return NULL;
}

TEST(b25_beside_everything_else) {
    static void *(*const others[])(void *) = {allocate,       change_environment, fork_and_exit,
                                              open_and_close, make_threads,       allocate};
    enum { OTHERS = sizeof others / sizeof *others };
    pthread_t busy[OTHERS], spawners[6];
    struct commands c = commands_new();
    rounds = count(2000) / 6;
    for (int i = 0; i < OTHERS; i++)
        busy[i] = thread(others[i], NULL);
    for (int i = 0; i < 6; i++)
        spawners[i] = thread(spawn_all, &c);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(pthread_join(spawners[i], NULL), 0);
    done = true;
    for (int i = 0; i < OTHERS; i++)
        CHECK_EQ(pthread_join(busy[i], NULL), 0);
    commands_free(&c);
    check_no_child();
}

TEST(sixty_four_threads_at_once) {
    pthread_t spawners[64];
    struct commands c = commands_new();
    rounds = count(800) / 20;
    for (int i = 0; i < 64; i++)
        spawners[i] = thread(spawn_all, &c);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(pthread_join(spawners[i], NULL), 0);
    commands_free(&c);
    check_no_child();
}

/* ---- one that stands still ---- */

static void others_go_on(launcher *launch, long number) {
    struct commands c = commands_new();
    forkless_command *waits = probe("exit", "7", NULL);
    struct held h = {.command = waits, .launch = launch, .number = number};
    held_begin(&h);
    rounds = count(1000) / 3;
    spawn_all(&c);
    if (launch == forkless_spawn)
        CHECK_EQ(pthread_tryjoin_np(h.thread, NULL), EBUSY);
    held_go(&h, 0);
    held_join(&h);
    ends(h.child, FORKLESS_EXITED, 7);
    forkless_command_free(waits);
    commands_free(&c);
}

TEST(one_that_is_held_delays_no_other) {
    for (int l = 0; l < 2; l++) {
        others_go_on(launchers[l], SYS_close_range);
        others_go_on(launchers[l], SYS_execve);
    }
    check_no_child();
}

/* ---- B18: nobody else's child holds a pipe ---- */

static void *feed_cats(void *launch) {
    forkless_status status;
    forkless_command *c = probe("cat", NULL);
    CHECK_EQ(forkless_command_pipe(c, 0, FORKLESS_READS), 0);
    for (int i = 0; i < count(10000) / 16; i++) {
        forkless_child *cat = launched(*(launcher **)launch, c);
        CHECK_EQ(close(forkless_child_pipe(cat, 0)), 0);
        CHECK_EQ(forkless_wait(cat, from_now(15000), &status, NULL), 0);
        CHECK_EQ(status.how, FORKLESS_EXITED);
        CHECK_EQ(status.code, 0);
        forkless_child_free(cat);
    }
    forkless_command_free(c);
    return NULL;
}

TEST(b18_no_child_keeps_a_pipe) {
    pthread_t threads[16], forks = thread(fork_and_system, NULL);
    for (int i = 0; i < 16; i++)
        threads[i] = thread(feed_cats, (void *)&launchers[i % 2]);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    done = true;
    CHECK_EQ(pthread_join(forks, NULL), 0);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b25_beside_everything_else),
        cmocka_unit_test(sixty_four_threads_at_once),
        cmocka_unit_test(one_that_is_held_delays_no_other),
        cmocka_unit_test(b18_no_child_keeps_a_pipe),
    };
    return RUN(tests);
}
