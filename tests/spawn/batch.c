/* Batches: each command is answered once, in either mode. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_support.h"
#include "run_support.h"
#include "support.h"

static forkless_command *exits(int code) {
    char text[8];
    snprintf(text, sizeof text, "%d", code);
    return probe("exit", text, NULL);
}

/* ---- answers ---- */

static void many(enum forkless_batch_mode mode, bool in_order, size_t at_once) {
    enum { COMMANDS = 60 };
    forkless_batch *b =
        batch(&(forkless_batch_options){.mode = mode, .in_order = in_order, .at_once = at_once});
    bool seen[COMMANDS] = {false};
    forkless_counts counts;
    for (int i = 0; i < COMMANDS; i++) {
        forkless_command *c = exits(i);
        add_plain(b, c, i);
        forkless_command_free(c);
    }
    for (long i = 0; i < COMMANDS; i++) {
        forkless_answer answer;
        long which = answered(b, &answer);
        CHECK(which >= 0 && which < COMMANDS && !seen[which]);
        seen[which] = true;
        has_run(&answer, FORKLESS_EXITED, (int)which);
        CHECK(answer.result.status.execed && !answer.result.timed_out && !answer.cancelled);
        CHECK_EQ(answer.index, which);
        CHECK(answer.result.output == NULL && answer.first == 0 && answer.count == 0);
        CHECK(!in_order || which == i);
        CHECK_EQ(forkless_batch_counts(b, &counts), 0);
        CHECK(counts.running <= (at_once ? at_once : 1024));
        CHECK_EQ(counts.waiting + counts.running + counts.over + counts.answered, COMMANDS);
        CHECK_EQ(counts.answered, i + 1);
        CHECK_EQ(counts.held_back, 0);
    }
    is_dry(b);
}

static void many_ways(enum forkless_batch_mode mode) {
    static const size_t at_once[] = {0, 1, 3, 100};
    for (int i = 0; i < 8; i++)
        many(mode, i % 2, at_once[i / 2]);
}

TEST(each_is_answered) {
    in_each_mode(many_ways);
}

/* More is added after it ran dry. */
static void again(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = exits(7);
    forkless_answer answer;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(forkless_batch_next(b, FORKLESS_NEVER, &answer), -ENODATA);
        for (int k = 0; k < i % 4; k++)
            add_plain(b, c, i);
        for (int k = 0; k < i % 4; k++) {
            CHECK_EQ(answered(b, &answer), i);
            has_run(&answer, FORKLESS_EXITED, 7);
        }
    }
    forkless_command_free(c);
    is_dry(b);
}

TEST(more_after_it_ran_dry) {
    in_each_mode(again);
}

static void captured(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 3});
    forkless_command *c = shell("cat; echo \"$0 $*\"; echo err >&2; exit 3");
    char *data = patterned(200000);
    for (long i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "%ld", i);
        const char *arguments[] = {"zero", text, NULL};
        const forkless_override override = {.arguments = arguments};
        add(b, c,
            &(forkless_run_options){
                .input = data, .input_size = 200000, .override = &override, .limit = 200100},
            i);
        memset(text, 'x', sizeof text); /* all was copied */
    }
    forkless_command_free(c);
    for (int i = 0; i < 20; i++) {
        forkless_answer answer;
        char want[32];
        long which = answered(b, &answer);
        has_run(&answer, FORKLESS_EXITED, 3);
        snprintf(want, sizeof want, "zero %ld\n", which);
        CHECK_EQ(answer.result.output_size, 200000 + strlen(want));
        CHECK(memcmp(answer.result.output, data, 200000) == 0);
        has_text(answer.result.output + 200000, answer.result.output_size - 200000, want);
        has_text(answer.result.errors, answer.result.errors_size, "err\n");
        CHECK_EQ(answer.result.input_written, 200000);
        forkless_result_free(&answer.result);
    }
    free(data);
    is_dry(b);
}

TEST(outputs_and_inputs) {
    in_each_mode(captured);
}

/* ---- what fails ---- */

static void failing(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .in_order = true});
    forkless_command *none = command("/nonexistent", NULL), *bad = exits(0),
                     *dies = shell("kill $$");
    const struct forkless_map twice[] = {{5, 0}, {5, 1}};
    const forkless_override override = {.maps = twice, .map_count = 2};
    CHECK_EQ(forkless_command_umask(bad, 01000), -EINVAL);
    add_plain(b, none, 0);
    add(b, none, NULL, 1);
    add_plain(b, bad, 2);
    add(b, dies, &(forkless_run_options){.whom = (enum forkless_whom)9}, 3);
    add(b, dies, &(forkless_run_options){.capture = FORKLESS_CAPTURE_NONE, .override = &override},
        4);
    add_plain(b, dies, 5);
    static const struct {
        int code, step;
    } want[] = {{-ENOENT, FORKLESS_STEP_EXEC},
                {-ENOENT, FORKLESS_STEP_EXEC},
                {-EINVAL, FORKLESS_STEP_SETTER},
                {-EINVAL, FORKLESS_STEP_ARGUMENT},
                {-EEXIST, FORKLESS_STEP_ARGUMENT}};
    forkless_answer answer;
    for (long i = 0; i < 5; i++) {
        CHECK_EQ(answered(b, &answer), i);
        CHECK_EQ(answer.answered, FORKLESS_FAILED);
        CHECK_EQ(answer.error.code, want[i].code);
        CHECK_EQ(answer.error.step, want[i].step);
        CHECK(answer.result.output == NULL);
    }
    CHECK_EQ(answered(b, &answer), 5);
    has_run(&answer, FORKLESS_KILLED, SIGTERM);
    forkless_command_free(none);
    forkless_command_free(bad);
    forkless_command_free(dies);
    is_dry(b);
}

TEST(what_fails_says_its_step) {
    in_each_mode(failing);
}

static void bad_input(enum forkless_batch_mode mode) {
    forkless_batch *b = (forkless_batch *)1;
    forkless_command *c = exits(0);
    forkless_answer answer;
    CHECK_EQ(forkless_batch_new(NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_new(&b, &(forkless_batch_options){.mode = 2}), -EINVAL);
    CHECK(b == NULL);
    CHECK_EQ(forkless_batch_new(&b, &(forkless_batch_options){.mode = mode, .each_ns = -1}),
             -EINVAL);
    CHECK_EQ(forkless_batch_new(&b, &(forkless_batch_options){.mode = mode, .reserved = {0, 1}}),
             -EINVAL);
    CHECK_EQ(forkless_batch_add(NULL, c, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_poll(NULL), -EINVAL);
    CHECK_EQ(forkless_batch_wait(NULL, 0), -EINVAL);
    CHECK_EQ(forkless_batch_next(NULL, 0, &answer), -EINVAL);
    CHECK_EQ(forkless_batch_cancel(NULL), -EINVAL);
    CHECK_EQ(forkless_batch_counts(NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_fd(NULL), -EINVAL);
    CHECK_EQ(forkless_batch_next_deadline(NULL), FORKLESS_NEVER);
    forkless_batch_free(NULL);
    b = batch(&(forkless_batch_options){.mode = mode});
    CHECK_EQ(forkless_batch_add(b, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_next(b, 0, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_counts(b, NULL), -EINVAL);
    CHECK_EQ(forkless_batch_cancel(b), 0); /* an empty one */
    is_dry(b);
    forkless_command_free(c);
    forkless_batch_free(batch(&(forkless_batch_options){.mode = mode}));
    forkless_batch_free(batch(NULL));
}

TEST(bad_input_and_empty_batches) {
    in_each_mode(bad_input);
}

/* ---- deadlines ---- */

static void late(enum forkless_batch_mode mode) {
    const forkless_batch_options options = {
        .mode = mode, .at_once = 2, .deadline_ns = from_now(150), .in_order = true};
    forkless_batch *b = batch(&options);
    forkless_command *c = shell("sleep 60 & sleep 60");
    forkless_answer answer;
    for (long i = 0; i < 6; i++)
        add(b, c, i == 1 ? NULL : &plain, i);
    for (long i = 0; i < 6; i++) {
        CHECK_EQ(answered(b, &answer), i);
        if (i < 2) {
            has_run(&answer, FORKLESS_KILLED, SIGTERM);
            CHECK(answer.result.timed_out && !answer.result.survivors && !answer.cancelled);
        } else {
            CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
            CHECK_EQ(answer.error.code, -ETIMEDOUT);
            CHECK_EQ(answer.error.step, FORKLESS_STEP_BATCH);
        }
        forkless_result_free(&answer.result);
    }
    add_plain(b, c, 6);
    CHECK_EQ(answered(b, &answer), 6);
    CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
    forkless_command_free(c);
    is_dry(b);
}

TEST(a_deadline_for_all) {
    in_each_mode(late);
}

static void each_late(enum forkless_batch_mode mode) {
    const forkless_batch_options options = {.mode = mode, .at_once = 2, .each_ns = 60000000};
    forkless_batch *b = batch(&options);
    forkless_command *slow = shell("trap '' TERM; sleep 60 & while :; do sleep 60; done"),
                     *quick = exits(0);
    forkless_answer answer;
    const forkless_run_options short_grace = {.capture = FORKLESS_CAPTURE_NONE,
                                              .grace_ns = 400000000};
    for (long i = 0; i < 4; i++)
        add(b, slow, &short_grace, i);
    add(b, quick, &(forkless_run_options){.deadline_ns = 1}, 4);
    for (int i = 0; i < 4; i++) {
        long which = answered(b, &answer);
        if (which == 4)
            which = answered(b, &answer);
        CHECK(which < 4);
        CHECK_EQ(answer.answered, FORKLESS_RAN);
        CHECK_EQ(answer.result.status.how, FORKLESS_KILLED);
        CHECK(answer.result.timed_out && !answer.result.survivors);
    }
    forkless_counts counts;
    CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    if (counts.answered == 4) {
        CHECK_EQ(answered(b, &answer), 4);
        CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
    }
    forkless_command_free(slow);
    forkless_command_free(quick);
    is_dry(b);
}

TEST(a_deadline_for_each) {
    in_each_mode(each_late);
}

static void past(enum forkless_batch_mode mode) {
    static const int64_t deadlines[] = {1, -1, INT64_MIN};
    for (int i = 0; i < 3; i++) {
        forkless_batch *b =
            batch(&(forkless_batch_options){.mode = mode, .deadline_ns = deadlines[i]});
        forkless_command *c = exits(0);
        forkless_answer answer;
        add_plain(b, c, 5);
        CHECK_EQ(answered(b, &answer), 5);
        CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
        CHECK_EQ(answer.error.code, -ETIMEDOUT);
        forkless_command_free(c);
        is_dry(b);
    }
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = shell("sleep 0.1");
    forkless_answer answer;
    add_plain(b, c, 1);
    CHECK_EQ(forkless_batch_next(b, 0, &answer), -ETIMEDOUT);
    CHECK_EQ(forkless_batch_wait(b, from_now(5)), -ETIMEDOUT);
    CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), 0);
    CHECK_EQ(forkless_batch_next(b, 0, &answer), 0);
    forkless_command_free(c);
    is_dry(b);
}

TEST(deadlines_in_the_past) {
    in_each_mode(past);
}

/* ---- cancel ---- */

static void cancelled(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 2});
    forkless_command *c = shell("sleep 60 & sleep 60"), *quick = exits(4);
    forkless_answer answer;
    forkless_counts counts;
    for (long i = 0; i < 6; i++)
        add(b, c, i == 1 ? NULL : &plain, i);
    do {
        CHECK_EQ(forkless_batch_poll(b), FORKLESS_RUNNING);
        CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    } while (counts.running < 2);
    CHECK_EQ(forkless_batch_cancel(b), 0);
    CHECK_EQ(forkless_batch_cancel(b), 0);
    add_plain(b, quick, 6);
    int ran = 0, not_started = 0;
    for (int i = 0; i < 7; i++) {
        long which = answered(b, &answer);
        if (which == 6) {
            has_run(&answer, FORKLESS_EXITED, 4);
            CHECK(!answer.cancelled);
            continue;
        }
        CHECK(answer.cancelled && !answer.result.timed_out);
        if (answer.answered == FORKLESS_RAN) {
            has_run(&answer, FORKLESS_KILLED, SIGTERM);
            CHECK(!answer.result.survivors);
            ran++;
        } else {
            CHECK_EQ(answer.answered, FORKLESS_NOT_STARTED);
            CHECK_EQ(answer.error.code, -ECANCELED);
            CHECK_EQ(answer.error.step, FORKLESS_STEP_BATCH);
            not_started++;
        }
        forkless_result_free(&answer.result);
    }
    CHECK_EQ(ran, 2);
    CHECK_EQ(not_started, 4);
    forkless_command_free(c);
    forkless_command_free(quick);
    is_dry(b);
}

TEST(cancel) {
    in_each_mode(cancelled);
}

/* ---- callbacks ---- */

static struct {
    forkless_command *command;
    int calls, adds, cancel_at, free_at, not_started;
    char *kept;
} host;

static void on_answer(forkless_batch *b, forkless_answer *answer, void *h) {
    CHECK(h == &host);
    host.calls++;
    host.not_started += answer->answered == FORKLESS_NOT_STARTED;
    CHECK_EQ(forkless_batch_poll(b), -EBUSY);
    CHECK_EQ(forkless_batch_wait(b, 0), -EBUSY);
    if (host.adds > 0) {
        host.adds--;
        add(b, host.command, NULL, 0);
    }
    if (host.calls == host.cancel_at)
        CHECK_EQ(forkless_batch_cancel(b), 0);
    if (!host.kept && answer->result.output) {
        host.kept = answer->result.output;
        answer->result.output = NULL;
    }
    if (host.calls == host.free_at)
        forkless_batch_free(b);
}

static forkless_batch *with_callback(enum forkless_batch_mode mode, const char *script) {
    memset(&host, 0, sizeof host);
    host.command = shell(script);
    return batch(&(forkless_batch_options){
        .mode = mode, .at_once = 2, .on_answer = on_answer, .host = &host});
}

static void called_back(enum forkless_batch_mode mode) {
    forkless_batch *b = with_callback(mode, "echo x");
    forkless_answer answer;
    host.adds = 10;
    for (int i = 0; i < 5; i++)
        add(b, host.command, NULL, i);
    CHECK_EQ(forkless_batch_next(b, 0, &answer), -EINVAL);
    CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), 0);
    CHECK_EQ(host.calls, 15);
    has_text(host.kept, 2, "x\n");
    free(host.kept);
    CHECK_EQ(forkless_batch_poll(b), FORKLESS_ENDED);
    forkless_batch_free(b);
    forkless_command_free(host.command);
    check_no_child();
}

TEST(add_from_a_callback) {
    in_each_mode(called_back);
}

static void cancel_called_back(enum forkless_batch_mode mode) {
    forkless_batch *b = with_callback(mode, "exit 0");
    host.cancel_at = 2;
    for (int i = 0; i < 500; i++)
        add_plain(b, host.command, i);
    CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), 0);
    CHECK_EQ(host.calls, 500);
    CHECK(host.not_started > 0);
    forkless_batch_free(b);
    forkless_command_free(host.command);
    check_no_child();
}

TEST(cancel_from_a_callback) {
    in_each_mode(cancel_called_back);
}

static void free_called_back(enum forkless_batch_mode mode) {
    forkless_batch *b = with_callback(mode, "echo x");
    host.free_at = 3;
    for (int i = 0; i < 50; i++)
        add(b, host.command, NULL, i);
    CHECK_EQ(forkless_batch_wait(b, FORKLESS_NEVER), -ECANCELED);
    CHECK_EQ(host.calls, 3);
    free(host.kept);
    forkless_command_free(host.command);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    while (wait(NULL) > 0 || errno == EINTR) /* those that ran are ours */
        ;
    check_no_child();
}

TEST(free_from_a_callback) {
    in_each_mode(free_called_back);
}

/* ---- free ---- */

static void freed_while_running(enum forkless_batch_mode mode) {
    static struct snapshot before;
    forkless_command *c = shell("sleep 60");
    forkless_counts counts;
    int status, ended = 0;
    snapshot_take(&before);
    signed char fds[sizeof before.fds];
    memcpy(fds, before.fds, sizeof fds);
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 3});
    for (int i = 0; i < 10; i++)
        add(b, c, i == 1 ? NULL : &plain, i);
    do {
        CHECK_EQ(forkless_batch_poll(b), FORKLESS_RUNNING);
        CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    } while (counts.running < 3);
    CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
    forkless_batch_free(b);
    snapshot_take(&before);
    CHECK(memcmp(fds, before.fds, sizeof fds) == 0);
    siginfo_t info;
    CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    CHECK_EQ(info.si_pid, 0); /* they go on */
    char children[256] = "";
    FILE *list = fopen("/proc/thread-self/children", "r");
    CHECK(list && fgets(children, sizeof children, list));
    fclose(list);
    for (char *at = strtok(children, " "); at; at = strtok(NULL, " "))
        CHECK_EQ(kill(-atoi(at), SIGKILL), 0);
    while (wait(&status) > 0)
        ended++;
    CHECK_EQ(ended, 3);
    forkless_command_free(c);
    check_no_child();
}

TEST(free_while_running) {
    in_each_mode(freed_while_running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_answered),
        cmocka_unit_test(more_after_it_ran_dry),
        cmocka_unit_test(outputs_and_inputs),
        cmocka_unit_test(what_fails_says_its_step),
        cmocka_unit_test(bad_input_and_empty_batches),
        cmocka_unit_test(a_deadline_for_all),
        cmocka_unit_test(a_deadline_for_each),
        cmocka_unit_test(deadlines_in_the_past),
        cmocka_unit_test(cancel),
        cmocka_unit_test(add_from_a_callback),
        cmocka_unit_test(cancel_from_a_callback),
        cmocka_unit_test(free_from_a_callback),
        cmocka_unit_test(free_while_running),
    };
    return RUN(tests);
}
