#include <errno.h>

#include "batch_support.h"
#include "support.h"

const forkless_run_options plain = {.capture = FORKLESS_CAPTURE_NONE};

static void (*mode_body)(enum forkless_batch_mode);

static void one_mode(int mode) {
    mode_body((enum forkless_batch_mode)mode);
}

void in_each_mode(void (*body)(enum forkless_batch_mode)) {
    mode_body = body;
    in_process(one_mode, FORKLESS_DIRECT);
    in_process(one_mode, FORKLESS_THREAD);
}

forkless_batch *batch(const forkless_batch_options *options) {
    forkless_batch *b;
    CHECK_EQ(forkless_batch_new(&b, options), 0);
    return b;
}

void add(forkless_batch *b, const forkless_command *c, const forkless_run_options *o, long host) {
    errno = 12345;
    CHECK_EQ(forkless_batch_add(b, c, o, (void *)host), 0);
    CHECK_EQ(errno, 12345);
}

void add_plain(forkless_batch *b, const forkless_command *c, long host) {
    add(b, c, &plain, host);
}

long answered(forkless_batch *b, forkless_answer *answer) {
    errno = 12345;
    CHECK_EQ(forkless_batch_next(b, FORKLESS_NEVER, answer), 0);
    CHECK_EQ(errno, 12345);
    return (long)answer->host;
}

void has_run(const forkless_answer *a, enum forkless_how how, int code) {
    char text[512];
    forkless_error_print(&a->error, text, sizeof text);
    if (a->answered != FORKLESS_RAN)
        check_failed(__FILE__, __LINE__, text);
    CHECK_EQ(a->error.code, 0);
    CHECK_EQ(a->result.status.how, how);
    CHECK_EQ(a->result.status.code, code);
}

void is_dry(forkless_batch *b) {
    forkless_answer answer;
    forkless_counts counts;
    CHECK_EQ(forkless_batch_next(b, FORKLESS_NEVER, &answer), -ENODATA);
    CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    CHECK_EQ(counts.waiting + counts.running + counts.over, 0);
    CHECK_EQ(forkless_batch_poll(b), FORKLESS_ENDED);
    CHECK_EQ(forkless_batch_wait(b, 0), 0);
    CHECK_EQ(forkless_batch_next_deadline(b), FORKLESS_NEVER);
    forkless_batch_free(b);
    check_no_child();
}
