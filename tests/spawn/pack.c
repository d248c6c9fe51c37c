/* Packs: as much as the kernel takes in one command, and each argument answered once. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_support.h"
#include "support.h"

static const forkless_pack_options plain_pack = {.run = &plain};

static char *filled(size_t length) {
    char *s = malloc(length + 1);
    CHECK(s != NULL);
    memset(s, 'x', length);
    s[length] = '\0';
    return s;
}

/* ---- what fits ---- */

struct load {
    size_t count, length;    /* of the arguments, */
    size_t variables;        /* of 1000 bytes in the environment */
    rlim_t stack, own_stack; /* own: the command's setter; 0: none */
};

static forkless_command *loaded(const struct load *l) {
    static char value[1000];
    char name[32];
    memset(value, 'v', sizeof value - 1);
    forkless_command *c = command("/bin/true", "first", NULL);
    for (size_t i = 0; i < l->variables; i++) {
        snprintf(name, sizeof name, "FORKLESS_%zu", i);
        CHECK_EQ(forkless_command_setenv(c, name, value), 0);
    }
    const struct rlimit own = {l->own_stack, l->own_stack};
    if (l->own_stack)
        CHECK_EQ(forkless_command_rlimit(c, RLIMIT_STACK, &own), 0);
    return c;
}

/* How many commands a pack makes of these. */
static size_t commands_of(const struct load *l, const char *const *arguments, size_t count) {
    forkless_batch *b = batch(NULL);
    forkless_command *c = loaded(l);
    forkless_counts counts;
    CHECK_EQ(forkless_pack(b, c, arguments, count, &plain_pack, NULL), 0);
    CHECK_EQ(forkless_batch_counts(b, &counts), 0);
    CHECK_EQ(counts.running + counts.answered, 0);
    forkless_batch_free(b);
    forkless_command_free(c);
    return counts.waiting + counts.over;
}

/* What the kernel says to one command with all of them. */
static int by_hand(const struct load *l, const char *const *arguments, size_t count) {
    forkless_command *c = loaded(l);
    forkless_child *child;
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(forkless_command_arg(c, arguments[i]), 0);
    int rc = forkless_spawn(c, &child, NULL);
    if (rc == 0)
        ends(child, FORKLESS_EXITED, 0);
    forkless_command_free(c);
    return rc;
}

/* The longest last argument with which it is still one command: a byte more is too much for the
 * kernel as well. */
static void exactly(const struct load *l) {
    const struct rlimit limit = {l->stack, l->stack};
    const char **arguments = calloc(l->count + 1, sizeof *arguments);
    char *each = filled(l->length);
    CHECK(arguments != NULL);
    if (l->stack)
        CHECK_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
    for (size_t i = 0; i < l->count; i++)
        arguments[i] = each;
    size_t fits = 0, too_much = 131073;
    while (too_much - fits > 1) {
        size_t middle = fits + (too_much - fits) / 2;
        char *last = filled(middle);
        arguments[l->count] = last;
        *(commands_of(l, arguments, l->count + 1) == 1 ? &fits : &too_much) = middle;
        free(last);
    }
    CHECK(fits > 0);
    char *last = filled(fits), *longer = filled(too_much);
    arguments[l->count] = last;
    CHECK_EQ(by_hand(l, arguments, l->count + 1), 0);
    arguments[l->count] = longer;
    CHECK_EQ(by_hand(l, arguments, l->count + 1), -E2BIG);
    free(last);
    free(longer);
    free(each);
    free(arguments);
}

static const struct load loads[] = {
    {.count = 1},                                            /* one string */
    {.count = 200, .length = 10000, .stack = 8 << 20},       /* a quarter of the stack */
    {.count = 200000, .length = 1, .stack = 8 << 20},        /* most of it are pointers */
    {.count = 60, .length = 100000, .stack = RLIM_INFINITY}, /* 6 MiB */
    {.count = 20, .length = 2000, .stack = 256 << 10},       /* 128 KiB */
    {.count = 200, .length = 1000, .variables = 750, .stack = 4 << 20},
    {.count = 200, .length = 1000, .own_stack = 1 << 20},
};

static void one_load(int which) {
    exactly(&loads[which]);
}

TEST(as_much_as_the_kernel_takes) {
    for (int i = 0; i < (int)(sizeof loads / sizeof *loads); i++)
        in_process(one_load, i);
}

/* ---- answers ---- */

struct tally {
    int times[2000], failed[2000];
    int answers;
};

/* All answers of a pack. */
static void tally(forkless_batch *b, struct tally *t, size_t count, bool in_order) {
    forkless_answer a;
    size_t next = 0;
    memset(t, 0, sizeof *t);
    while (forkless_batch_next(b, FORKLESS_NEVER, &a) == 0) {
        t->answers++;
        CHECK(a.count > 0 && a.first + a.count <= count);
        CHECK(!in_order || a.first == next);
        next = a.first + a.count;
        for (size_t i = a.first; i < a.first + a.count; i++) {
            t->times[i]++;
            t->failed[i] += a.answered != FORKLESS_RAN || a.result.status.how != FORKLESS_EXITED ||
                            a.result.status.code != 0;
        }
        forkless_result_free(&a.result);
    }
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(t->times[i], 1);
}

/* Arguments that are `bad` make it exit with 1, `worse` ends it by a signal. */
static forkless_command *picky(void) {
    return command("/bin/sh", "-c",
                   "for a; do case $a in bad) exit 1;; worse) kill -9 $$;; esac; done", "sh", NULL);
}

static void split(enum forkless_batch_mode mode) {
    enum { ARGUMENTS = 300 };
    static struct tally t;
    const char *arguments[ARGUMENTS];
    for (int in_order = 0; in_order < 2; in_order++) {
        forkless_batch *b =
            batch(&(forkless_batch_options){.mode = mode, .in_order = in_order, .at_once = 3});
        forkless_command *c = picky();
        for (int i = 0; i < ARGUMENTS; i++)
            arguments[i] = i == 0 || i == 117 || i == 299 ? "bad" : i == 118 ? "worse" : "good";
        const forkless_pack_options options = {.most = 100, .run = in_order ? NULL : &plain};
        CHECK_EQ(forkless_pack(b, c, arguments, ARGUMENTS, &options, NULL), 0);
        forkless_command_free(c);
        memset(arguments, 0, sizeof arguments);
        tally(b, &t, ARGUMENTS, in_order);
        for (int i = 0; i < ARGUMENTS; i++)
            CHECK_EQ(t.failed[i], i == 0 || i == 117 || i == 118 || i == 299);
        CHECK(t.answers > 4 && t.answers < 60);
        is_dry(b);
    }
}

TEST(one_bad_argument_loses_no_other) {
    in_each_mode(split);
}

static void whole(enum forkless_batch_mode mode) {
    static struct tally t;
    const char *arguments[30];
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = picky();
    for (int i = 0; i < 30; i++)
        arguments[i] = i == 12 ? "bad" : "good";
    const forkless_pack_options options = {.most = 10, .whole = true, .run = &plain};
    CHECK_EQ(forkless_pack(b, c, arguments, 30, &options, NULL), 0);
    tally(b, &t, 30, false);
    CHECK_EQ(t.answers, 3);
    for (int i = 0; i < 30; i++)
        CHECK_EQ(t.failed[i], i / 10 == 1);
    forkless_command_free(c);
    is_dry(b);
}

TEST(a_cap_and_no_split) {
    in_each_mode(whole);
}

static void too_long(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .in_order = true});
    forkless_command *c = command("/bin/true", NULL);
    char *longest = filled(131071), *longer = filled(131072);
    const char *arguments[] = {"a", longer, "b", longest, longer};
    static const size_t first[] = {0, 1, 2, 4}, count[] = {1, 1, 2, 1};
    int host;
    forkless_answer a;
    CHECK_EQ(forkless_pack(b, c, arguments, 5, &plain_pack, &host), 0);
    add_plain(b, c, 7);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(answered(b, &a), (long)&host);
        CHECK_EQ(a.index, 0);
        CHECK_EQ(a.first, first[i]);
        CHECK_EQ(a.count, count[i]);
        if (i % 2 == 0) {
            has_run(&a, FORKLESS_EXITED, 0);
            continue;
        }
        CHECK_EQ(a.answered, FORKLESS_FAILED);
        CHECK_EQ(a.error.code, -E2BIG);
        CHECK_EQ(a.error.step, FORKLESS_STEP_EXEC);
    }
    CHECK_EQ(answered(b, &a), 7);
    CHECK_EQ(a.index, 1);
    free(longest);
    free(longer);
    forkless_command_free(c);
    is_dry(b);
}

TEST(an_argument_that_alone_is_too_long) {
    in_each_mode(too_long);
}

/* What a script's interpreter adds is not known before. */
static void script(enum forkless_batch_mode mode) {
    static struct tally t;
    char path[] = "/tmp/forkless-pack-XXXXXX";
    char interpreter[100];
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    int length = snprintf(interpreter, sizeof interpreter, "#!%s\nexit 0\n",
                          "/////////////////////////////////////bin/sh");
    CHECK_EQ(write(fd, interpreter, (size_t)length), length);
    CHECK_EQ(fchmod(fd, 0700), 0);
    close(fd);
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = command(path, NULL);
    static const char *arguments[2000];
    char *each = filled(1200);
    for (int i = 0; i < 2000; i++)
        arguments[i] = each;
    each[1199] = '\0'; /* the last bytes of 2 MiB */
    CHECK_EQ(forkless_pack(b, c, arguments, 2000, &plain_pack, NULL), 0);
    forkless_command_free(c);
    tally(b, &t, 2000, false);
    for (int i = 0; i < 2000; i++)
        CHECK_EQ(t.failed[i], 0);
    free(each);
    CHECK_EQ(unlink(path), 0);
    is_dry(b);
}

TEST(a_script) {
    in_each_mode(script);
}

static void bad_input(enum forkless_batch_mode mode) {
    forkless_batch *b = batch(&(forkless_batch_options){.mode = mode});
    forkless_command *c = command("/bin/true", NULL), *none = command("/nonexistent", NULL);
    const char *arguments[] = {"a", NULL, "c"};
    forkless_answer a;
    CHECK_EQ(forkless_pack(NULL, c, arguments, 1, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_pack(b, NULL, arguments, 1, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_pack(b, c, NULL, 1, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_pack(b, c, arguments, 3, NULL, NULL), -EINVAL);
    CHECK_EQ(forkless_pack(b, c, arguments, 1, &(forkless_pack_options){.reserved = {1}}, NULL),
             -EINVAL);
    CHECK_EQ(forkless_pack(b, c, NULL, 0, NULL, NULL), 0);
    CHECK_EQ(forkless_batch_next(b, FORKLESS_NEVER, &a), -ENODATA);
    arguments[1] = "b";
    CHECK_EQ(forkless_pack(b, none, arguments, 3, NULL, NULL), 0); /* not split: all are bad */
    CHECK_EQ(answered(b, &a), 0);
    CHECK_EQ(a.answered, FORKLESS_FAILED);
    CHECK_EQ(a.error.code, -ENOENT);
    CHECK_EQ(a.count, 3);
    forkless_command_free(c);
    forkless_command_free(none);
    is_dry(b);
}

TEST(bad_input_of_pack) {
    in_each_mode(bad_input);
}

/* Freed at once: the children that have not exec'd yet read on. */
static void freed(enum forkless_batch_mode mode) {
    forkless_command *c = command("/bin/true", NULL);
    char *each = filled(1000);
    const char *arguments[1000];
    for (int i = 0; i < 1000; i++)
        arguments[i] = each;
    for (int i = 0; i < count(400); i++) {
        forkless_batch *b = batch(&(forkless_batch_options){.mode = mode, .at_once = 4});
        CHECK_EQ(forkless_pack(b, c, arguments, 1000,
                               &(forkless_pack_options){.most = 250, .run = &plain}, NULL),
                 0);
        forkless_batch_poll(b);
        forkless_batch_free(b);
        CHECK_EQ(forkless_quiesce(FORKLESS_NEVER), 0);
        int status;
        while (wait(&status) > 0)
            CHECK_EQ(status, 0);
    }
    free(each);
    forkless_command_free(c);
    check_no_child();
}

TEST(freed_before_the_exec) {
    in_each_mode(freed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_much_as_the_kernel_takes),
        cmocka_unit_test(one_bad_argument_loses_no_other),
        cmocka_unit_test(a_cap_and_no_split),
        cmocka_unit_test(an_argument_that_alone_is_too_long),
        cmocka_unit_test(a_script),
        cmocka_unit_test(bad_input_of_pack),
        cmocka_unit_test(freed_before_the_exec),
    };
    return RUN(tests);
}
