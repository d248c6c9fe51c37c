/* Batches: what is cancelled, added, too late or freed at an awkward moment. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_support.h"
#include "run_support.h"
#include "support.h"

/* ---- one that was held back ---- */

static void let_nobody_in(bool nobody) {
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &(struct rlimit){nobody ? 0 : 4000, 4000}), 0);
}

static void held_then_cancelled(enum forkless_batch_mode mode) {
    forkless_answer answer;
    forkless_counts counts = {0};
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = command("/bin/true", NULL);
    let_nobody_in(true);
    add_plain(b, c, 0);
    while (counts.held_back == 0) {
        CHECK_EQ(forkless_batch_poll(b), FORKLESS_RUNNING);
        CHECK_EQ(forkless_batch_counts(b, &counts), 0);
        nap(1000);
    }
    CHECK_EQ(forkless_batch_cancel(b), 0);
    CHECK_EQ(answered(b, &answer), 0);
    CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
    let_nobody_in(false);
    nap(5000); /* the thread, if there is one, sleeps */
    add_plain(b, c, 1);
    CHECK_EQ(answered(b, &answer), 1);
    has_run(&answer, FORKLESS_EXITED, 0);
    forkless_command_free(c);
    is_dry(b);
}

static void as_nobody(enum forkless_batch_mode mode) {
    if (geteuid() == 0)
        CHECK_EQ(setuid(65534), 0); /* root has no limit */
    held_then_cancelled(mode);
}

TEST(next_one_after_one_that_was_held_back_and_cancelled) {
    in_each_mode(as_nobody);
}

/* ---- in a callback ---- */

struct calls {
    int count;
    forkless_command *command;
};

static void add_then_cancel(forkless_batch *b, forkless_answer *answer, void *host) {
    struct calls *calls = host;
    (void)answer;
    if (++calls->count > 1)
        return;
    add_plain(b, calls->command, 0);
    CHECK_EQ(forkless_batch_cancel(b), 0);
}

static void cancels_in_a_callback(enum forkless_batch_mode mode) {
    struct calls calls = {.command = command("/bin/true", NULL)};
    forkless_batch *b = batch(
        &(forkless_batch_options){.mode = mode, .on_answer = add_then_cancel, .host = &calls});
    add_plain(b, calls.command, 0);
    CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), 0);
    CHECK_EQ(calls.count, 2);
    forkless_batch_free(b);
    forkless_command_free(calls.command);
    check_no_child();
}

TEST(what_a_callback_adds_and_cancels_is_answered) {
    in_each_mode(cancels_in_a_callback);
}

/* ---- freed ---- */

/* The thread may finish some that it hands back no more. */
TEST(outputs_of_what_is_freed_are_freed) {
    forkless_command *c = command("/usr/bin/seq", "10000", NULL);
    size_t before = 0;
    for (int round = 0; round < 40; round++) {
        forkless_batch *b = batch(&(forkless_batch_options){.mode = FORKLESS_THREAD, .at_once = 4});
        for (int i = 0; i < 4; i++)
            add(b, c, NULL, i);
        nap(2000 + 100 * round);
        forkless_batch_free(b);
        while (waitpid(-1, NULL, 0) > 0)
            continue;
        if (round == 10)
            before = mallinfo2().uordblks;
    }
    CHECK(sanitized() || mallinfo2().uordblks < before + 40000); /* of one output: 48894 */
    forkless_command_free(c);
}

/* Holds whoever starts it, until the FIFO is opened to be written. */
static forkless_command *behind(const char *fifo) {
    forkless_command *c = command("/bin/true", NULL);
    CHECK_EQ(mkfifo(fifo, 0600), 0);
    CHECK_EQ(forkless_command_file(c, 0, fifo, O_RDONLY, 0), 0);
    return c;
}

static void let_go(const char *fifo) {
    int fd = open(fifo, O_WRONLY);
    CHECK(fd >= 0);
    close(fd);
    unlink(fifo);
}

/* The thread is held by a start, with many behind that, while it is asked to start no more. */
static void cancelled_meanwhile(int unused) {
    enum { COMMANDS = 50 };
    (void)unused;
    char folder[] = "/tmp/turnsXXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    CHECK_EQ(forkless_mechanism_limit(FORKLESS_CLONE3_VFORK), 0);
    forkless_answer answer;
    forkless_command *first = behind("first"), *second = behind("second");
    forkless_command *c = command("/nonexistent", NULL);
    forkless_batch *b = batch(&(forkless_batch_options){.mode = FORKLESS_THREAD, .at_once = 100});
    add_plain(b, first, 0);
    nap(50000);
    add_plain(b, second, 1);
    for (int i = 2; i < COMMANDS; i++)
        add_plain(b, c, i);
    let_go("first");
    nap(100000);
    CHECK_EQ(forkless_batch_cancel(b), 0);
    let_go("second");
    for (int i = 0; i < COMMANDS; i++)
        if (answered(b, &answer) > 1)
            CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
    forkless_command_free(first);
    forkless_command_free(second);
    forkless_command_free(c);
    is_dry(b);
    rmdir(folder);
}

TEST(many_that_wait_are_not_started_after_a_cancel) {
    in_process(cancelled_meanwhile, 0);
}

/* ---- a command that is in a batch ---- */

static void is_fixed(enum forkless_batch_mode mode) {
    forkless_answer answer;
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = command("/bin/echo", "one", NULL);
    add(b, c, NULL, 0);
    CHECK_EQ(forkless_command_arg(c, "two"), -EBUSY);
    answered(b, &answer);
    has_run(&answer, FORKLESS_EXITED, 0);
    CHECK_EQ(strcmp(answer.result.output, "one\n"), 0);
    forkless_result_free(&answer.result);
    forkless_command_free(c);
    is_dry(b);
}

TEST(command_is_fixed_by_add) {
    in_each_mode(is_fixed);
}

/* ---- ends that come late ---- */

/* It had ended, and had been read, long before: only nobody looked. */
TEST(a_caller_that_comes_late_has_not_timed_out) {
    forkless_answer answer;
    forkless_command *c = command("/bin/echo", "hi", NULL);
    forkless_batch *b = batch(&(forkless_batch_options){.each_ns = INT64_C(300000000)});
    add(b, c, NULL, 0);
    CHECK_EQ(forkless_batch_poll(b), FORKLESS_RUNNING);
    nap(400000);
    answered(b, &answer);
    has_run(&answer, FORKLESS_EXITED, 0);
    CHECK(!answer.result.timed_out);
    forkless_result_free(&answer.result);
    forkless_command_free(c);
    is_dry(b);
}

TEST(one_that_has_ended_is_not_cancelled) {
    forkless_answer answer;
    forkless_command *c = command("/bin/true", NULL);
    forkless_batch *b = batch(NULL);
    add_plain(b, c, 0);
    CHECK_EQ(forkless_batch_poll(b), FORKLESS_RUNNING);
    nap(200000);
    CHECK_EQ(forkless_batch_cancel(b), 0);
    answered(b, &answer);
    has_run(&answer, FORKLESS_EXITED, 0);
    CHECK(!answer.cancelled);
    forkless_command_free(c);
    is_dry(b);
}

/* A pack whose own time is over keeps the answer that it has. */
TEST(pack_at_its_own_deadline_is_not_split) {
    forkless_answer answer;
    const char *const arguments[] = {"a", "b", NULL};
    const forkless_run_options run = {.deadline_ns = forkless_deadline_in(INT64_C(200000000))};
    forkless_command *c = shell("sleep 60");
    forkless_batch *b = batch(NULL);
    CHECK_EQ(forkless_pack(b, c, arguments, 2, &(forkless_pack_options){.run = &run}, NULL), 0);
    answered(b, &answer);
    CHECK_EQ(answer.answered, FORKLESS_RAN);
    CHECK(answer.result.timed_out);
    CHECK_EQ(answer.count, 2);
    forkless_result_free(&answer.result);
    forkless_command_free(c);
    is_dry(b);
}

/* Also where the child ends well when it is told to. */
TEST(pack_that_times_out_is_split) {
    forkless_answer answer;
    const char *const arguments[] = {"a", "b", NULL};
    forkless_command *c = shell("trap 'exit 0' TERM; echo; while :; do sleep 0.01; done");
    forkless_batch *b = batch(&(forkless_batch_options){.each_ns = INT64_C(300000000)});
    CHECK_EQ(forkless_pack(b, c, arguments, 2, NULL, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        answered(b, &answer);
        CHECK_EQ(answer.count, 1);
        CHECK(answer.result.timed_out);
        forkless_result_free(&answer.result);
    }
    forkless_command_free(c);
    is_dry(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_one_after_one_that_was_held_back_and_cancelled),
        cmocka_unit_test(what_a_callback_adds_and_cancels_is_answered),
        cmocka_unit_test(outputs_of_what_is_freed_are_freed),
        cmocka_unit_test(many_that_wait_are_not_started_after_a_cancel),
        cmocka_unit_test(command_is_fixed_by_add),
        cmocka_unit_test(a_caller_that_comes_late_has_not_timed_out),
        cmocka_unit_test(one_that_has_ended_is_not_cancelled),
        cmocka_unit_test(pack_at_its_own_deadline_is_not_split),
        cmocka_unit_test(pack_that_times_out_is_split),
    };
    return RUN(tests);
}
