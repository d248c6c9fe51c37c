#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "captured.h"
#include "clock.h"
#include "many.h"
#include "targets/target.h"

/* Both windows of a sample, by a victim that says how long each was. */
enum { MS = 1000000, SAMPLES = 12 };

static int64_t opened, tick; /* 0: there are no ticks */
static int64_t lasts;        /* a spawn */
static char order[3];
static bool is_spawning;

int64_t victim_due(const struct victim *v, int64_t from) {
    (void)v;
    return tick ? (from + tick - 1) / tick * tick : from;
}

int64_t victim_aim(const struct victim *v, int64_t into) {
    return victim_due(v, now_ns() + into) - into;
}

void victim_open(struct victim *v) {
    (void)v;
    is_spawning = false;
    opened = now_ns();
}

struct stall victim_close(struct victim *v, int64_t closed) {
    (void)v;
    strcat(order, is_spawning ? "s" : "q");
    assert_true(closed >= victim_due(v, opened) || tick == 0); /* one was due */
    return (struct stall){.ns = closed - opened};
}

/* What these samples have not. */
void spawners_wait(struct spawners *s) {
    (void)s;
    fail();
}

void spawners_take(struct spawners *s, struct turn *turn) {
    (void)s, (void)turn;
    fail();
}

void after_begin(struct after *a, struct turn *turn) {
    (void)a, (void)turn;
    fail();
}

struct aftermath after_end(struct after *a, struct turn *turn) {
    (void)a, (void)turn;
    fail();
    return (struct aftermath){0};
}

bool captured_is_whole(const char *target, const char *output, size_t length, char *why,
                       size_t size) {
    (void)target, (void)output, (void)length, (void)why, (void)size;
    fail();
    return false;
}

int many_take(struct sampler *s, struct sample *out) {
    (void)s, (void)out;
    fail();
    return -1;
}

static int start_child(struct born *born) {
    (void)born;
    is_spawning = true;
    return 0;
}

static int reap_child(struct born *born, struct ended *ended) {
    (void)born;
    for (int64_t until = now_ns() + lasts; now_ns() < until;)
        continue;
    ended->status = TARGET_STATUS << 8;
    return 0;
}

static const struct strategy spawning = {.name = "spawning",
                                         .body = start_child,
                                         .finish = reap_child},
                             empty = {.name = "null"};

static struct sampler sampler;
static struct cell cell;

static void begin(const struct strategy *strategy, int64_t gap) {
    cell = cell_default;
    cell.strategy = strategy;
    cell.gap_ns = (uint64_t)gap;
    sampler.cell = &cell;
    sampler.victim = (struct victim *)&cell; /* any */
    sampler.watched = 0;
    sampler.window = NULL_WINDOW_NS;
}

static struct sample take(const char *in_order) {
    struct sample sample;
    order[0] = '\0';
    assert_int_equal(sample_take(&sampler, &sample), 0);
    assert_string_equal(order, in_order);
    return sample;
}

static int64_t apart(const struct sample *sample) {
    int64_t difference = sample->baseline - sample->stall.ns;
    return difference < 0 ? -difference : difference;
}

/* Whichever comes first; the machine may make one of them longer, but not all. */
static void both_windows_are_equally_long(void **state) {
    (void)state;
    begin(&spawning, 0);
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < SAMPLES; i++) {
        lasts = (i < SAMPLES / 2 ? 5 : 25) * MS;
        int64_t before = sampler.window;
        struct sample sample = take(i % 2 ? "qs" : "sq");
        assert_true(sample.stall.ns >= lasts && sampler.window >= lasts);
        assert_true(sample.baseline >= (i % 2 ? before : sampler.window));
        if (apart(&sample) < least[i % 2])
            least[i % 2] = apart(&sample);
    }
    assert_true(least[0] < 5 * MS && least[1] < 5 * MS);
}

static void without_a_spawn_both_are_as_ever(void **state) {
    (void)state;
    begin(&empty, 0);
    for (int i = 0; i < SAMPLES; i++) {
        struct sample sample = take("qq");
        assert_true(sample.stall.ns >= NULL_WINDOW_NS && sample.baseline >= NULL_WINDOW_NS);
        assert_int_equal(sampler.window, NULL_WINDOW_NS);
    }
}

/* victim_close() looks for it. */
static void each_window_has_a_tick(void **state) {
    (void)state;
    tick = TICK_NS;
    begin(&spawning, MS / 3);
    for (int i = 0; i < 10 * SAMPLES; i++) {
        lasts = (i % 4) * MS / 10;
        take(i % 2 ? "qs" : "sq");
    }
    tick = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_windows_are_equally_long),
        cmocka_unit_test(without_a_spawn_both_are_as_ever),
        cmocka_unit_test(each_window_has_a_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
