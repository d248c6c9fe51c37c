#include "chunk.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ballast.h"
#include "descriptors.h"
#include "gbench.h"

/* Hogs are in groups of their own; where there are none every child is looked for. */
static bool has_child(const struct measuring *m) {
    siginfo_t info;
    return waitid(m->hogs.count ? P_PGID : P_ALL, m->hogs.count ? (id_t)getpgrp() : 0, &info,
                  WEXITED | WNOHANG | WNOWAIT | (int)__WALL) == 0;
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
    unsigned spawns = cell_spawns(&now->cell);
    for (; m->discards > 0; m->discards -= m->discards < spawns ? m->discards : spawns)
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

static void fail_victim(struct measuring *m, int error) {
    if (error == ENOTSUP)
        fail(m, "this kernel does not tell how long a thread waited for a CPU (schedstat)");
    else
        fail(m, "the victim could not be made: %s", strerror(error));
    m->sampler.turn.unsupported = error == ENOTSUP || error == ENODEV;
}

static void take_samples(struct measuring *m, unsigned count) {
    struct measured *now = m->current;
    m->sampler.spawners = NULL;
    if (now->cell.spawners > 1) {
        m->sampler.spawners = make_threads(m, now->cell.spawners);
        if (!m->sampler.spawners)
            return;
    }
    m->sampler.victim = NULL;
    m->sampler.watched = 0;
    m->sampler.window = NULL_WINDOW_NS;
    if (now->cell.victim) {
        m->sampler.victim =
            victim_make((enum victim_kind)now->cell.victim, (enum place)now->cell.place);
        if (!m->sampler.victim) {
            fail_victim(m, errno);
            return;
        }
    }
    now->failed = gbench_run(now->cell.strategy->name, count, iteration, m) < count;
    victim_end(m->sampler.victim);
    spawners_end(m->sampler.spawners);
}

/* The same, with what comes after each. */
static void take_with_after(struct measuring *m, unsigned count) {
    uint64_t kind = m->current->cell.after;
    struct after after = {.is_living = kind == AFTER_LIVING, .stamps = m->sampler.stamps};
    m->sampler.after = NULL;
    if (kind == AFTER_NONE) {
        take_samples(m, count);
        return;
    }
    int rc = after_prepare(&after);
    if (rc < 0) {
        fail(m, "the children's standard input could not be made: %s", strerror(-rc));
        return;
    }
    /* A page that was only populated takes long at its first use where a hypervisor maps it. */
    ballast_rewrite();
    m->sampler.after = &after;
    take_samples(m, count);
    after_cleanup(&after);
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
        rc = strategy->prepare(&(struct request){cell->target, m->programs, cell_children(cell),
                                                 cell->attribute, (unsigned)cell->commands});
    if (rc < 0) {
        fail(m, "the strategy could not be prepared: %s", strerror(-rc));
        m->sampler.turn.unsupported = rc == -ENOSYS || rc == -ENOTSUP;
        return;
    }
    take_with_after(m, rest < CHUNK ? rest : CHUNK);
    if (strategy->cleanup)
        strategy->cleanup();
}

/* What a cell has beside the ballast while a chunk of it is taken. */
struct beside {
    struct descriptors more;
    struct spawners *sleepers; /* threads that are never released */
    cpu_set_t cpus;            /* where the caller might run before it was pinned; */
    bool pinned;
};

static void add_descriptors(struct measuring *m, struct beside *beside) {
    const struct cell *cell = &m->current->cell;
    uint64_t fds = cell->fds;
    int rc = descriptors_open(&beside->more, (unsigned)fds, cell_descriptors(cell), m->to_nothing);
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

/* To the first CPU that it may use. Threads and children that are made now stay there too. */
static void pin(struct measuring *m, struct beside *beside) {
    cpu_set_t one, found;
    size_t cpu = 0;
    if (m->current->cell.pin == PIN_NONE)
        return;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof beside->cpus, &beside->cpus) == 0) {
        while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &beside->cpus))
            cpu++;
        CPU_SET(cpu, &one);
        beside->pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    if (!beside->pinned)
        fail(m, "the caller cannot be pinned to a CPU: %s", strerror(errno));
    else if (sched_getaffinity(0, sizeof found, &found) < 0 || !CPU_EQUAL(&one, &found))
        fail(m, "the caller is not on the CPU that it was pinned to");
}

/* Shared, so that fork does not copy its page tables: the caller has no more to copy than without.
 */
static void add_touched(struct measuring *m, struct beside *beside) {
    (void)beside;
    if (m->current->cell.between != BETWEEN_TOUCH)
        return;
    char *bytes = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (bytes == MAP_FAILED)
        fail(m, "%d MiB to write between spawns cannot be had: %s", TOUCHED >> 20, strerror(errno));
    else
        m->sampler.touched = bytes;
}

static void spoil(struct measuring *m, const char *how, int rc) {
    if (rc < 0)
        snprintf(m->spoilt, sizeof m->spoilt, "%s: %s", how, strerror(-rc));
}

static void take_away(struct measuring *m, struct beside *beside) {
    if (m->sampler.touched)
        munmap(m->sampler.touched, TOUCHED);
    m->sampler.touched = NULL;
    if (m->current->cell.memory == MEMORY_DONTFORK)
        spoil(m, "the memory is still left out of copies", ballast_leave_out(false));
    if (beside->pinned && sched_setaffinity(0, sizeof beside->cpus, &beside->cpus) < 0)
        spoil(m, "the caller is still pinned to a CPU", -errno);
    spawners_end(beside->sleepers);
    descriptors_close(&beside->more);
}

void chunk_take(struct measuring *m, struct measured *now) {
    static void (*const add[])(struct measuring *, struct beside *) = {
        add_descriptors, pin, add_threads, leave_out, add_touched};
    struct beside beside = {0};
    m->current = now;
    for (size_t i = 0; i < sizeof add / sizeof *add && !now->failed; i++)
        add[i](m, &beside);
    if (!now->failed) {
        unsigned before = descriptors_count();
        measure(m);
        if (!now->failed && (descriptors_count() != before || has_child(m)))
            fail(m, "the strategy left a %s behind", has_child(m) ? "child" : "descriptor");
    }
    take_away(m, &beside);
    if (!now->failed && !hogs_run(&m->hogs))
        fail(m, "a busy loop beside the parent ended before it was to");
}
