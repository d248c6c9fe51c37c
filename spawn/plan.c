/*
 * Maps are a parallel move. A map whose target nobody has to read any more may be carried out; that
 * ends all chains and leaves cycles, each opened by saving one descriptor in a spare number. By
 * then every target is open, since it was moved to or is the source of another, so the kernel's
 * lowest free number is never a target.
 */
#include "plan.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "helper.h"
#include "job.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif

struct plan {
    const struct fl_descriptors *d;
    struct fl_map *maps;
    size_t count;
    struct fl_call *calls;
    size_t made;
};

#define DONE SIZE_MAX

static void emit(struct plan *p, const struct fl_call *call) {
    p->calls[p->made++] = *call;
}

static void emit_move(struct plan *p, enum fl_call_kind kind, int number, int to, int from,
                      long first, long second) {
    const struct fl_call call = {
        .kind = kind,
        .step = FORKLESS_STEP_DESCRIPTOR,
        .number = number,
        .index = to,
        .from = from,
        .arguments = {first, second, 0},
    };
    emit(p, &call);
}

static void emit_map(struct plan *p, const struct fl_map *map) {
    emit_move(p, FL_CALL, SYS_dup3, map->to, map->from, map->from, map->to);
}

size_t fl_map_place(const struct fl_map *maps, size_t count, int to) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find(const struct plan *p, int to) {
    size_t i = fl_map_place(p->maps, p->count, to);
    return i < p->count && p->maps[i].to == to ? i : p->count;
}

/* Carries out a map, if nobody reads its target, then the one that it alone held back, and so on.
 */
static void run_chain(struct plan *p, size_t i) {
    while (i < p->count && p->maps[i].readers == 0) {
        struct fl_map *map = &p->maps[i];
        emit_map(p, map);
        map->readers = DONE;
        i = find(p, map->from);
        if (i < p->count && p->maps[i].readers != DONE)
            p->maps[i].readers--;
    }
}

static void run_cycle(struct plan *p, size_t i) {
    int first = p->maps[i].to;
    struct fl_call *save = &p->calls[p->made];
    emit_move(p, FL_SAVE, SYS_fcntl, -1, first, first, F_DUPFD_CLOEXEC);
    for (;;) {
        struct fl_map *map = &p->maps[i];
        map->readers = DONE;
        if (map->from == first)
            break;
        emit_map(p, map);
        i = find(p, map->from);
    }
    save->index = p->maps[i].to; /* whose source was saved */
    emit_move(p, FL_PLACE, 0, save->index, first, 0, 0);
}

static void plan_maps(struct plan *p) {
    for (size_t i = 0; i < p->count; i++) {
        const struct fl_map *map = &p->maps[i];
        bool same = map->from == map->to;
        p->maps[i].readers = same ? DONE : 0;
        if (same)
            emit_move(p, FL_CALL, SYS_fcntl, map->to, map->from, map->to, F_SETFD);
    }
    for (size_t i = 0; i < p->count; i++) {
        size_t read = find(p, p->maps[i].from);
        if (read < p->count && p->maps[read].readers != DONE)
            p->maps[read].readers++;
    }
    for (size_t i = 0; i < p->count; i++)
        run_chain(p, i);
    for (size_t i = 0; i < p->count; i++)
        if (p->maps[i].readers != DONE)
            run_cycle(p, i);
}

static void plan_file(struct plan *p, const struct fl_source *s) {
    struct fl_call call = {
        .kind = FL_OPEN,
        .step = FORKLESS_STEP_FILE,
        .number = SYS_openat,
        .index = s->to,
        .subject = s->path,
        .arguments = {AT_FDCWD, (long)s->path, s->flags | O_CLOEXEC, (long)s->mode},
    };
    emit(p, &call);
    call.kind = FL_PLACE;
    emit(p, &call);
}

static void plan_memory(struct plan *p, const struct fl_source *s) {
    struct fl_call call = {
        .kind = FL_OPEN,
        .step = FORKLESS_STEP_MEMORY,
        .number = SYS_memfd_create,
        .index = s->to,
        .arguments = {(long)"forkless", MFD_CLOEXEC},
    };
    emit(p, &call);
    call.kind = FL_FILL;
    call.arguments[1] = (long)s->data;
    call.arguments[2] = (long)s->size;
    if (s->size > 0)
        emit(p, &call);
    call.kind = FL_PLACE;
    emit(p, &call);
}

static bool is_target(const struct plan *p, int fd) {
    return find(p, fd) < p->count || fl_descriptors_find(p->d, fd) < p->d->count;
}

/* What it is in the end the same as, which is in place by then. */
static void plan_same(struct plan *p, const struct fl_source *s) {
    int as = s->from;
    for (size_t i; (i = fl_descriptors_find(p->d, as)) < p->d->count;) {
        if (p->d->sources[i].kind != FL_SAME)
            break;
        as = p->d->sources[i].from;
    }
    emit_move(p, is_target(p, as) ? FL_COPY : FL_CALL, SYS_dup3, s->to, as, as, s->to);
}

static int highest_target(const struct plan *p) {
    int map = p->count ? p->maps[p->count - 1].to : 0;
    int other = p->d->count ? p->d->sources[p->d->count - 1].to : 0;
    return map > other ? map : other;
}

/* Out of the way of what takes its number. */
static void plan_program(struct plan *p, int fd) {
    const struct fl_call call = {
        .kind = FL_PROGRAM,
        .step = FORKLESS_STEP_EXEC,
        .number = SYS_fcntl,
        .index = -1,
        .arguments = {fd, F_DUPFD_CLOEXEC, highest_target(p) + 1L},
    };
    if (fd >= 0 && is_target(p, fd))
        emit(p, &call);
}

void fl_plan_descriptors(const forkless_command *c, int program_fd, struct fl_map *maps,
                         size_t count, struct fl_calls *out, struct fl_call *calls) {
    static const struct fl_call close_others = {
        .kind = FL_CLOSE_OTHERS,
        .step = FORKLESS_STEP_CLOSE,
        .index = -1,
    };
    struct plan p = {.d = &c->descriptors, .maps = maps, .count = count, .calls = calls};
    if (!c->descriptors.inherits)
        emit(&p, &close_others);
    plan_program(&p, program_fd);
    plan_maps(&p);
    for (size_t i = 0; i < p.d->count; i++)
        if (p.d->sources[i].kind == FL_FILE)
            plan_file(&p, &p.d->sources[i]);
        else if (p.d->sources[i].kind == FL_MEMORY)
            plan_memory(&p, &p.d->sources[i]);
    for (size_t i = 0; i < p.d->count; i++)
        if (p.d->sources[i].kind == FL_SAME)
            plan_same(&p, &p.d->sources[i]);
    *out = (struct fl_calls){.call = calls, .count = p.made};
}

/* A cycle of n maps takes n + 1 moves, and n is at least 2. */
size_t fl_plan_calls(const forkless_command *c, size_t maps) {
    static const size_t most[] = {[FL_FILE] = 2, [FL_MEMORY] = 3, [FL_SAME] = 1};
    size_t n = 2 + maps + maps / 2;
    for (size_t i = 0; i < c->descriptors.count; i++)
        n += most[c->descriptors.sources[i].kind];
    return n;
}

/* Both are in ascending order. */
int fl_plan_gap(const forkless_command *c, const struct fl_map *maps, size_t count, int n) {
    const struct fl_descriptors *d = &c->descriptors;
    int first = 3;
    for (size_t m = 0, s = 0; m < count || s < d->count;) {
        bool map = s == d->count || (m < count && maps[m].to < d->sources[s].to);
        int to = map ? maps[m++].to : d->sources[s++].to;
        if (to >= first + n)
            break;
        if (to >= first)
            first = to + 1;
    }
    return first;
}

/* Such as /proc/self/fd/7: 7 is there until exec only where it is not closed before. */
static bool may_name_a_descriptor(const forkless_command *c, const char *path) {
    if (path[0] != '/')
        return fl_has(c, FORKLESS_STEP_CWD);
    return path[1] == '/' || strncmp(path, "/proc/", 6) == 0 ||
           (strncmp(path, "/dev/", 5) == 0 && strcmp(path, "/dev/null") != 0);
}

bool fl_plan_shares_table(const forkless_command *c, const char *const *programs,
                          const struct fl_map *maps, size_t count) {
    const struct fl_descriptors *d = &c->descriptors;
    bool low = !d->inherits && c->program_fd <= 2;
    for (; low && *programs; programs++)
        low = !may_name_a_descriptor(c, *programs);
    for (size_t i = 0; low && i < d->count; i++)
        low = d->sources[i].kind != FL_FILE || !may_name_a_descriptor(c, d->sources[i].path);
    for (size_t i = 0; i < count; i++)
        low = low && maps[i].from <= 2;
    return low;
}

size_t fl_maps_of(const struct fl_descriptors *d, struct fl_map *maps) {
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++)
        if (d->sources[i].kind == FL_FROM)
            maps[count++] = (struct fl_map){.to = d->sources[i].to, .from = d->sources[i].from};
    return count;
}

/* What stands before the descriptors, and what behind them. */
static void split(const struct fl_call *calls, size_t count, struct fl_calls *before,
                  struct fl_calls *after) {
    size_t i = 0;
    while (i < count && calls[i].step < FORKLESS_STEP_CLOSE)
        i++;
    *before = (struct fl_calls){.call = calls, .count = i};
    *after = (struct fl_calls){.call = calls + i, .count = count - i};
}

static void look_for_needs(const forkless_command *c, struct fl_prepared *p) {
    bool changes_mask = false;
    for (size_t i = 0; i < c->descriptors.count; i++)
        changes_mask |= c->descriptors.sources[i].kind == FL_MEMORY;
    for (size_t i = 0; i < c->call_count; i++) {
        changes_mask |= c->calls[i].kind == FL_FOREGROUND;
        p->needs_mask |= changes_mask && c->calls[i].kind == FL_CALLERS_MASK;
        p->needs_parent |= c->calls[i].kind == FL_DEATH_SIGNAL;
    }
}

/* ---- with forkless-exec ---- */

static bool may_be_helped(const forkless_command *c) {
    return c->helper || c->cgroup >= 0 || c->cgroup_path;
}

/* Behind the calls: those that are left, the arguments, argument 0. */
static size_t helped_size(const forkless_command *c) {
    return c->call_count * sizeof *c->calls + (c->argc + 2) * sizeof *c->argv + FL_HELPER_NAME;
}

static void plan_helped(const forkless_command *c, const struct fl_map *maps, size_t count,
                        struct fl_prepared *p, struct fl_call *room) {
    size_t n = 0;
    for (size_t i = 0; i < c->call_count; i++)
        if (!fl_job_takes(c, c->calls[i].step))
            room[n++] = c->calls[i];
    split(room, n, &p->helped.before, &p->helped.after);
    p->helped.base = fl_plan_gap(c, maps, count, (int)fl_job_fds(c));
    p->helped.argv = (char **)(room + c->call_count);
    p->helped.argv[0] = (char *)(p->helped.argv + c->argc + 2);
    fl_helper_name(p->helped.argv[0], p->helped.base);
    memcpy(p->helped.argv + 1, c->argv, (c->argc + 1) * sizeof *c->argv);
}

/* False: no memory. */
static bool find_programs(const forkless_command *c, struct fl_prepared *p) {
    p->searches = c->searches && !strchr(c->program, '/');
    p->program[0] = c->program;
    p->programs = p->searches ? fl_search(c->program, c->envp) : p->program;
    return p->programs != NULL;
}

void fl_plan_free(struct fl_prepared *p) {
    if (p && p->programs != p->program)
        free(p->programs);
    free(p);
}

struct fl_prepared *fl_plan(const forkless_command *c) {
    struct fl_map *maps = malloc((c->descriptors.count + 1) * sizeof *maps);
    size_t count = maps ? fl_maps_of(&c->descriptors, maps) : 0;
    size_t most = fl_plan_calls(c, count), helped = may_be_helped(c) ? helped_size(c) : 0;
    struct fl_prepared *p = maps ? calloc(1, sizeof *p + most * sizeof *p->calls + helped) : NULL;
    if (p && !find_programs(c, p)) {
        free(p);
        p = NULL;
    }
    if (p) {
        split(c->calls, c->call_count, &p->before, &p->after);
        look_for_needs(c, p);
        if (helped)
            plan_helped(c, maps, count, p, p->calls + most);
        if (c->descriptors.pipes == 0)
            fl_plan_descriptors(c, c->program_fd, maps, count, &p->descriptors, p->calls);
        p->shares_table =
            c->descriptors.pipes == 0 && fl_plan_shares_table(c, p->programs, maps, count);
    }
    free(maps);
    return p;
}
