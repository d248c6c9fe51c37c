#include "spawners.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock.h"
#include "targets/target.h"

/* A strategy without processes: every child is a number. */

enum { MOST = 64, EACH = 3 };

static atomic_int started, finished, alive;
static atomic_int fails_at; /* the number of the child that cannot be started; 0: none */

static int body(struct born *born) {
    int number = atomic_fetch_add(&started, 1) + 1;
    if (number == atomic_load(&fails_at))
        return -ENOSYS;
    atomic_fetch_add(&alive, 1);
    born->pid = number;
    born->data = (void *)pthread_self();
    return 0;
}

static int finish(struct born *born, struct ended *ended) {
    if (born->data != (void *)pthread_self())
        return -ECHILD; /* another spawner's */
    atomic_fetch_add(&finished, 1);
    atomic_fetch_sub(&alive, 1);
    ended->status = TARGET_STATUS << 8;
    ended->usage.ru_utime.tv_usec = 1000;
    return 0;
}

static const struct strategy fake = {.name = "fake", .body = body, .finish = finish};
static struct born born[MOST * EACH];

static struct turn take(struct spawners *s) {
    struct turn turn = {.strategy = &fake, .want = EACH, .born = born};
    spawners_wait(s);
    spawners_take(s, &turn);
    return turn;
}

static int begin(void **state) {
    (void)state;
    atomic_store(&started, 0);
    atomic_store(&finished, 0);
    atomic_store(&fails_at, 0);
    return 0;
}

static void all_of_them_spawn_and_reap_their_own(void **state) {
    (void)state;
    for (unsigned count = 1; count <= MOST; count += 21) {
        struct spawners *s = spawners_make(count);
        assert_non_null(s);
        begin(NULL);
        for (int sample = 1; sample <= 50; sample++) {
            int64_t before = now_ns();
            struct turn turn = take(s);
            assert_string_equal(turn.problem, "");
            assert_int_equal(turn.made, count * EACH);
            assert_int_equal(atomic_load(&started), sample * (int)count * EACH);
            assert_int_equal(atomic_load(&finished), sample * (int)count * EACH);
            assert_int_equal(atomic_load(&alive), 0);
            assert_true(before <= turn.called && turn.called <= turn.returned);
            assert_true(turn.returned <= turn.reaped && turn.reaped <= now_ns());
            assert_true(turn.cpu >= (int64_t)count * EACH * 1000000);
        }
        spawners_end(s);
    }
}

static void one_that_fails_fails_the_sample(void **state) {
    (void)state;
    struct spawners *s = spawners_make(4);
    assert_non_null(s);
    atomic_store(&fails_at, 5);
    struct turn turn = take(s);
    assert_non_null(strstr(turn.problem, "could not be started: Function not implemented"));
    assert_true(turn.unsupported);
    assert_int_equal(atomic_load(&alive), 0);
    atomic_store(&fails_at, 0);
    turn = take(s);
    assert_string_equal(turn.problem, "");
    assert_int_equal(turn.made, 4 * EACH);
    spawners_end(s);
}

static void none_that_never_spawned_is_left(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct spawners *s = spawners_make(8);
        assert_non_null(s);
        spawners_end(s);
    }
    spawners_end(NULL);
    assert_int_equal(atomic_load(&started), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_of_them_spawn_and_reap_their_own, begin),
        cmocka_unit_test_setup(one_that_fails_fails_the_sample, begin),
        cmocka_unit_test_setup(none_that_never_spawned_is_left, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
