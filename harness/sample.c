#include "sample.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "captured.h"
#include "clock.h"
#include "many.h"
#include "targets/target.h"

static void touch(char *bytes, int64_t until) {
    do
        for (size_t at = 0; at < TOUCHED; at += 64)
            ++*(volatile char *)(bytes + at);
    while (now_ns() < until);
}

static void sleep_until(int64_t until) {
    const struct timespec then = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
        continue;
}

static void wait_until(const struct sampler *s, int64_t until) {
    if (s->cell->between == BETWEEN_SLEEP)
        sleep_until(until);
    while (now_ns() < until)
        continue;
}

/* Who sleeps wakes late: the last stretch is spun. */
static void wait_sharply(const struct sampler *s, int64_t until) {
    enum { WAKING_NS = 300000 };
    wait_until(s, until - WAKING_NS);
    while (now_ns() < until)
        continue;
}

/* As the caller does between two spawns. */
static void pass_time(const struct sampler *s, uint64_t ns) {
    int64_t until = now_ns() + (int64_t)ns;
    if (s->cell->between == BETWEEN_TOUCH)
        touch(s->touched, until);
    wait_until(s, until);
}

/* From a window's beginning until a tick is due, in the same place in both windows of a sample:
 * over the samples anywhere alike, by multiples of the golden ratio, but close to the ends. */
static int64_t into_window(const struct sampler *s) {
    int64_t length = s->window < TICK_NS ? s->window : TICK_NS;
    return length * (s->watched * 618 % 1000 * 9 + 500) / 10000;
}

/* The turn, with the victim watched from just before it to its end; NULL: as long without one. */
static struct stall watch(struct sampler *s, struct turn *turn, int64_t into) {
    wait_sharply(s, victim_aim(s->victim, into));
    victim_open(s->victim);
    int64_t opened = now_ns(), due = victim_due(s->victim, opened), closed;
    if (turn)
        turn_take(turn);
    if (turn && turn->want > 0) {
        closed = turn->reaped;
        s->window = closed - opened;
    } else {
        closed = opened + s->window;
        wait_until(s, closed);
    }
    if (closed < due) {
        closed = due;
        wait_until(s, closed);
    }
    return victim_close(s->victim, closed);
}

/* Every other time without the turn first, for as long as the turn before took. */
static void watch_both(struct sampler *s, struct turn *turn, struct sample *out) {
    int64_t into = into_window(s);
    bool is_quiet = s->watched++ % 2;
    for (int i = 0; i < 2; i++, is_quiet = !is_quiet) {
        if (i > 0)
            pass_time(s, s->cell->gap_ns);
        if (is_quiet)
            out->baseline = watch(s, NULL, into).ns;
        else
            out->stall = watch(s, turn, into);
    }
}

/* A child's: the pipe has them in any order. */
static bool read_stamp(struct sampler *s, const struct born *born, target_stamp *stamp) {
    if (!s->turn.strategy->captures)
        return read(s->stamps, stamp, sizeof *stamp) == sizeof *stamp;
    memcpy(stamp, born->output, sizeof *stamp);
    return true;
}

/* The last of the children's stamps. */
static int64_t read_stamps(struct sampler *s) {
    int64_t last = 0;
    for (unsigned i = 0; i < s->turn.made; i++) {
        target_stamp stamp;
        if (!read_stamp(s, &s->born[i], &stamp)) {
            snprintf(s->turn.problem, sizeof s->turn.problem,
                     "a target did not stamp its first instruction");
            return 0;
        }
        if ((int64_t)stamp > last)
            last = (int64_t)stamp;
    }
    return last;
}

static void check_outputs(struct sampler *s) {
    struct turn *turn = &s->turn;
    for (unsigned i = 0; i < turn->made && !turn->problem[0]; i++)
        captured_is_whole(s->cell->target, s->born[i].output, s->born[i].output_size, turn->problem,
                          sizeof turn->problem);
}

/* Those too that came before a child which failed. */
static void release_outputs(struct sampler *s) {
    for (unsigned i = 0; i < cell_children(s->cell); i++) {
        if (s->born[i].output)
            s->turn.strategy->release(&s->born[i]);
        s->born[i].output = NULL;
    }
}

int sample_take(struct sampler *s, struct sample *out) {
    const struct cell *cell = s->cell;
    if (cell->commands > 1) {
        pass_time(s, cell->gap_ns);
        return many_take(s, out);
    }
    struct turn *turn = &s->turn;
    unsigned want = cell->strategy->body ? (unsigned)cell->at_once : 0;

    *turn = (struct turn){.strategy = cell->strategy, .want = want, .born = s->born};
    if (s->spawners)
        spawners_wait(s->spawners);
    pass_time(s, cell->gap_ns);
    struct sample watched = {0};
    struct aftermath aftermath = {0};
    if (s->after)
        after_begin(s->after, turn);
    if (s->spawners)
        spawners_take(s->spawners, turn);
    else if (s->victim)
        watch_both(s, turn, &watched);
    else
        turn_take(turn);

    int64_t ready = 0;
    if (cell->strategy->captures)
        check_outputs(s);
    if (s->has_stamps && want && !turn->problem[0])
        ready = read_stamps(s) - turn->called;
    if (s->after && !turn->problem[0])
        aftermath = after_end(s->after, turn);
    if (cell->strategy->captures)
        release_outputs(s);
    if (turn->problem[0]) {
        for (target_stamp stale; s->has_stamps && read(s->stamps, &stale, sizeof stale) > 0;)
            continue;
        return -1;
    }
    *out = (struct sample){.called = turn->called,
                           .call = turn->returned - turn->called,
                           .ready = ready,
                           .total = turn->reaped - turn->called,
                           .cpu = turn->cpu,
                           .stall = watched.stall,
                           .baseline = watched.baseline,
                           .after = aftermath};
    return 0;
}
