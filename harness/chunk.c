#include "chunk.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ballast.h"
#include "descriptors.h"
#include "gbench.h"

static bool has_child(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | (int)__WALL) == 0;
}

static int take(struct measuring *m, struct sample *sample) {
    if (m->current->cell.memory == MEMORY_REWRITTEN)
        ballast_rewrite();
    return sample_take(&m->sampler, sample);
}

/* The spawns that are not recorded come here, so that nothing stands between them and the samples.
 */
static double iteration(void *argument) {
    struct measuring *m = argument;
    struct measured *now = m->current;
    struct sample discarded;
    unsigned children = cell_children(&now->cell);
    for (; m->discards > 0; m->discards -= m->discards < children ? m->discards : children)
        if (take(m, &discarded) < 0)
            return -1;
    struct sample *sample = &now->samples[now->taken];
    if (take(m, sample) < 0)
        return -1;
    now->taken++;
    return (double)sample->call / 1e9;
}

__attribute__((format(printf, 2, 3))) static void fail(struct measuring *m, const char *format,
                                                       ...) {
    struct turn *turn = &m->sampler.turn;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(turn->problem, sizeof turn->problem, format, arguments);
    va_end(arguments);
    turn->unsupported = false;
    m->current->failed = true;
}

/* Of this process. */
static unsigned count_threads(void) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    for (const struct dirent *entry; d && (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static struct spawners *make_threads(struct measuring *m, uint64_t count) {
    struct spawners *threads = spawners_make((unsigned)count);
    if (!threads)
        fail(m, "%" PRIu64 " threads could not be made: %s", count, strerror(errno));
    return threads;
}

static void take_samples(struct measuring *m, unsigned count) {
    struct measured *now = m->current;
    m->sampler.spawners = NULL;
    if (now->cell.spawners > 1) {
        m->sampler.spawners = make_threads(m, now->cell.spawners);
        if (!m->sampler.spawners)
            return;
    }
    now->failed = gbench_run(now->cell.strategy->name, count, iteration, m) < count;
    spawners_end(m->sampler.spawners);
}

static void measure(struct measuring *m) {
    struct measured *now = m->current;
    const struct cell *cell = &now->cell;
    const struct strategy *strategy = cell->strategy;
    unsigned rest = cell->samples - now->taken;
    m->discards = cell->discards;
    m->sampler.cell = cell;
    m->sampler.has_stamps = now->has_stamps;
    int rc = dup2(now->has_stamps ? m->to_stamps : m->to_nothing, STDOUT_FILENO) < 0 ? -errno : 0;
    if (rc == 0 && strategy->prepare)
        rc = strategy->prepare(cell->target, cell_children(cell), cell->attribute);
    if (rc < 0) {
        fail(m, "the strategy could not be prepared: %s", strerror(-rc));
        m->sampler.turn.unsupported = rc == -ENOSYS || rc == -ENOTSUP;
        return;
    }
    take_samples(m, rest < CHUNK ? rest : CHUNK);
    if (strategy->cleanup)
        strategy->cleanup();
}

/* What a cell has beside the ballast while a chunk of it is taken. */
struct beside {
    struct descriptors more;
    struct spawners *sleepers; /* threads that are never released */
};

static void add_descriptors(struct measuring *m, struct beside *beside) {
    uint64_t fds = m->current->cell.fds;
    int rc = descriptors_open(&beside->more, (unsigned)fds, m->to_nothing);
    if (rc < 0)
        fail(m, "%" PRIu64 " descriptors could not be opened: %s", fds, strerror(-rc));
}

static void add_threads(struct measuring *m, struct beside *beside) {
    uint64_t threads = m->current->cell.threads;
    if (threads == 0)
        return;
    beside->sleepers = make_threads(m, threads);
    if (!beside->sleepers)
        return;
    spawners_wait(beside->sleepers);
    if (count_threads() != threads + 1)
        fail(m, "the parent has %u threads, not %" PRIu64, count_threads(), threads + 1);
}

static void leave_out(struct measuring *m, struct beside *beside) {
    (void)beside;
    if (m->current->cell.memory != MEMORY_DONTFORK)
        return;
    int rc = ballast_leave_out(true);
    if (rc < 0)
        fail(m, "the memory cannot be left out of copies: %s", strerror(-rc));
}

static void take_away(struct measuring *m, struct beside *beside) {
    if (m->current->cell.memory == MEMORY_DONTFORK)
        ballast_leave_out(false);
    spawners_end(beside->sleepers);
    descriptors_close(&beside->more);
}

void chunk_take(struct measuring *m, struct measured *now) {
    static void (*const add[])(struct measuring *, struct beside *) = {add_descriptors, add_threads,
                                                                       leave_out};
    struct beside beside = {0};
    m->current = now;
    for (size_t i = 0; i < sizeof add / sizeof *add && !now->failed; i++)
        add[i](m, &beside);
    if (!now->failed) {
        unsigned before = descriptors_count();
        measure(m);
        if (!now->failed && (descriptors_count() != before || has_child()))
            fail(m, "the strategy left a %s behind", has_child() ? "child" : "descriptor");
    }
    take_away(m, &beside);
}
