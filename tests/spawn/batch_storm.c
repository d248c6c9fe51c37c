/* Thousands of commands whose children are killed, stopped, fail and are too late at random: each
 * is answered once, and nothing is left. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch_support.h"
#include "run_support.h"
#include "support.h"

static atomic_bool done;

static unsigned random_of(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Signals for those of our children that happen to be there. */
static void *harass(void *unused) {
    static const int signals[] = {SIGKILL, SIGTERM, SIGSTOP, SIGCONT, SIGSTOP, SIGUSR1};
    unsigned state = 7;
    while (!done) {
        char list[8192] = "";
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
        FILE *children = fopen(path, "r");
        if (children && fgets(list, sizeof list, children))
            for (char *at = strtok(list, " "); at; at = strtok(NULL, " "))
                if (random_of(&state) % 8 == 0)
                    kill(atoi(at), signals[random_of(&state) % 6]);
        if (children)
            fclose(children);
        nap(2000);
    }
    return unused;
}

struct kinds {
    forkless_command *exits, *fails, *sleeps, *writes;
};

static void add_one(forkless_batch *b, const struct kinds *k, int i, unsigned *state) {
    const forkless_run_options soon = {.capture = FORKLESS_CAPTURE_NONE,
                                       .deadline_ns = from_now((int)(random_of(state) % 500)),
                                       .grace_ns = 50000000};
    switch (random_of(state) % 16) {
    case 0:
        add_plain(b, k->fails, i);
        break;
    case 1:
        add(b, k->sleeps, &soon, i);
        break;
    case 2:
        add(b, k->writes, NULL, i);
        break;
    case 3:
        add(b, k->exits, &soon, i);
        break;
    default:
        add_plain(b, k->exits, i);
    }
}

static void storm(enum forkless_batch_mode mode) {
    int commands = count(10000), answers = 0, rc;
    unsigned state = 1;
    unsigned char *seen = calloc((size_t)commands, 1);
    struct kinds k = {probe("exit", "3", NULL), command("/nonexistent", NULL),
                      command("/bin/sleep", "60", NULL), shell("echo x; exit 2")};
    forkless_batch *b =
        batch(&(forkless_batch_options){.mode = mode, .at_once = 12, .each_ns = 1000000000});
    CHECK(seen != NULL);
    pthread_t other = thread(harass, NULL);
    for (int i = 0; i < commands; i++)
        add_one(b, &k, i, &state);
    for (;;) {
        forkless_answer a;
        rc = forkless_batch_next(b, FORKLESS_NEVER, &a);
        if (rc < 0)
            break;
        CHECK(a.index < (size_t)commands && !seen[a.index]);
        seen[a.index] = 1;
        CHECK(a.answered >= FORKLESS_RAN && a.answered <= FORKLESS_NOT_STARTED);
        CHECK((a.error.code == 0) == (a.answered == FORKLESS_RAN));
        forkless_result_free(&a.result);
        if (++answers == commands * 9 / 10) /* the rest is cancelled */
            CHECK_EQ(forkless_batch_cancel(b), 0);
    }
    CHECK_EQ(rc, -ENODATA);
    CHECK_EQ(answers, commands);
    done = true;
    CHECK_EQ(pthread_join(other, NULL), 0);
    forkless_command_free(k.exits);
    forkless_command_free(k.fails);
    forkless_command_free(k.sleeps);
    forkless_command_free(k.writes);
    free(seen);
    is_dry(b);
}

TEST(each_is_answered_once) {
    in_each_mode(storm);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_answered_once)};
    return RUN(tests);
}
