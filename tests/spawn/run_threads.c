/* Runs by many threads, and by two that wait for one run. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "run_support.h"
#include "support.h"

enum { THREADS = 8 };

/* ---- B18: pipes of one child in another; B57: each thread has its own mask ---- */

static void *copy_in_thread(void *which) {
    long number = (long)which;
    char *data = patterned(200000);
    sigset_t mine, now;
    sigemptyset(&mine);
    sigaddset(&mine, SIGRTMIN + (int)number);
    if (number % 2)
        sigaddset(&mine, SIGPIPE);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &mine, NULL), 0);
    for (int i = 0; i < count(2000); i++) {
        copied(data, (size_t)(i * 7919 % 200000), FORKLESS_EXITED);
        forkless_result r = ran(command("/bin/true", NULL),
                                &(forkless_run_options){.input = data, .input_size = 200000});
        has_exited(&r, 0);
        forkless_result_free(&r);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
        for (int signal = 1; signal <= 64; signal++)
            CHECK_EQ(sigismember(&now, signal) == 1, sigismember(&mine, signal) == 1);
    }
    free(data);
    return NULL;
}

TEST(b18_b57_many_threads) {
    pthread_t threads[THREADS];
    signal(SIGPIPE, SIG_DFL);
    for (long t = 0; t < THREADS; t++)
        threads[t] = thread(copy_in_thread, (void *)t);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(threads[t], NULL), 0);
    check_no_child();
}

/* ---- two that wait for one run; its numbers are soon those of others ---- */

static void *wait_for_run(void *child) {
    CHECK_EQ(forkless_wait(child, FORKLESS_NEVER, NULL, NULL), 0);
    return NULL;
}

static void *copy_with_two(void *data) {
    forkless_command *c = command("/bin/cat", NULL);
    for (int i = 0; i < count(1000); i++) {
        const forkless_run_options o = {.input = data, .input_size = (size_t)(i * 7919 % 200000)};
        forkless_child *child;
        forkless_result r;
        CHECK_EQ(forkless_run_start(c, &o, &child, NULL), 0);
        pthread_t other = thread(wait_for_run, child);
        if (i % 2)
            while (forkless_poll(child) != FORKLESS_ENDED)
                nap(100);
        wait_for_run(child);
        CHECK_EQ(pthread_join(other, NULL), 0);
        CHECK_EQ(forkless_run_result(child, &r, NULL), 0);
        has_exited(&r, 0);
        CHECK_EQ(r.output_size, o.input_size);
        forkless_result_free(&r);
        forkless_child_free(child);
    }
    forkless_command_free(c);
    return NULL;
}

TEST(b66_two_threads_wait_for_a_run) {
    pthread_t threads[THREADS];
    char *data = patterned(200000);
    for (int t = 0; t < THREADS; t++)
        threads[t] = thread(copy_with_two, data);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(threads[t], NULL), 0);
    free(data);
    check_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b18_b57_many_threads),
        cmocka_unit_test(b66_two_threads_wait_for_a_run),
    };
    return RUN(tests);
}
