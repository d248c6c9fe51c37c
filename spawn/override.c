#include "override.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "exec/job.h"
#include "helper.h"
#include "job.h"
#include "plan.h"
#include "record.h"

enum { ROOM_FOR = 4096 }; /* maps, of which there are fewer in any case */

static char *copy_string(forkless_child *slot, const char *s) {
    size_t size = strlen(s) + 1;
    char *copy = fl_slot_room(slot, size);
    return copy ? memcpy(copy, s, size) : NULL;
}

/* Room for so many and a NULL: a pack's have room of their own, as long as the slot has them. */
static char **room_for(forkless_child *slot, size_t count) {
    size_t size = (count + 1) * sizeof(char *);
    if (!slot->arguments)
        return fl_slot_room(slot, size);
    slot->argv_of_pack = malloc(size);
    return slot->argv_of_pack;
}

/* 0, -E2BIG: there is not so much room, -ENOMEM. */
static int copy_arguments(forkless_child *slot, const char *const *more) {
    const forkless_command *c = slot->command;
    size_t first = slot->helped.used, n = 0, packed = slot->arguments ? slot->argument_count : 0;
    while (more && more[n])
        n++;
    char **argv = room_for(slot, first + c->argc + n + packed);
    if (!argv)
        return slot->arguments ? -ENOMEM : -E2BIG;
    if (first) {
        char name[FL_HELPER_NAME];
        fl_helper_name(name, slot->helped.base);
        argv[0] = copy_string(slot, name);
        if (!argv[0])
            return -E2BIG;
    }
    char **to = argv + first;
    memcpy(to, c->argv, c->argc * sizeof *argv);
    to += c->argc;
    for (size_t i = 0; i < n; i++)
        if (!(*to++ = copy_string(slot, more[i])))
            return -E2BIG;
    if (packed)
        memcpy(to, slot->arguments->argument + slot->argument_first, packed * sizeof *argv);
    to[packed] = NULL;
    slot->argv = argv;
    return 0;
}

static void insert(struct fl_map *maps, size_t *count, int to, int from) {
    size_t i = fl_map_place(maps, *count, to);
    memmove(&maps[i + 1], &maps[i], (*count - i) * sizeof *maps);
    maps[i] = (struct fl_map){.to = to, .from = from};
    (*count)++;
}

/* In the place of the command's own, or new. */
static int set(const struct fl_descriptors *d, struct fl_map *maps, size_t *count, int to,
               int from) {
    size_t own = fl_descriptors_find(d, to);
    if (own < d->count && d->sources[own].kind != FL_FROM)
        return -EEXIST;
    if (own < d->count)
        maps[fl_map_place(maps, *count, to)].from = from;
    else
        insert(maps, count, to, from);
    return 0;
}

/* Each number once. */
static int replace(const struct fl_descriptors *d, struct fl_map *maps, size_t *count,
                   const struct forkless_map *maps_over, size_t over) {
    for (size_t i = 0; i < over; i++) {
        int to = maps_over[i].child_fd, from = maps_over[i].parent_fd;
        if (to < 0 || from < 0)
            return -EBADF;
        for (size_t k = 0; k < i; k++)
            if (maps_over[k].child_fd == to)
                return -EEXIST;
        int rc = set(d, maps, count, to, from);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Of a run, in the place of what else they would be. */
static int replace_by_pipe(forkless_child *slot, const forkless_override *o, struct fl_map *maps,
                           size_t *count, const struct fl_pipe *pipe, forkless_error *error) {
    int rc = 0;
    for (size_t i = 0; o && i < o->map_count; i++)
        if (o->maps[i].child_fd == pipe->child_fd)
            rc = -EEXIST;
    if (rc == 0)
        rc = set(&slot->command->descriptors, maps, count, pipe->child_fd, pipe->theirs);
    if (rc == 0)
        return 0;
    fl_error(error, rc, FORKLESS_STEP_ARGUMENT, -1, NULL);
    if (error)
        snprintf(error->reason, sizeof error->reason,
                 "descriptor %d is to be %s, and something else sets it", pipe->child_fd,
                 pipe->child_fd == 0 ? "fed" : "captured");
    return rc;
}

/* A descriptor that the library has opened, and the child's one that comes from it; -1: none. */
struct own {
    int fd, to;
};

/* Whether a call other than its own reads it. */
static bool reads(const struct fl_call *call, const struct own *own) {
    bool folder = call->step == FORKLESS_STEP_CWD || call->step == FORKLESS_STEP_NAMESPACE;
    return (fl_call_reads(call, own->fd) && call->index != own->to) ||
           (folder && call->index == own->fd);
}

static const struct fl_call *reader_of(const struct fl_calls *calls, const struct own *own) {
    for (size_t i = 0; i < calls->count; i++)
        if (reads(&calls->call[i], own))
            return &calls->call[i];
    return NULL;
}

/* -EBADF, told: something reads a number that was free until we took it. */
static int check_own(forkless_child *slot, struct own own, forkless_error *error) {
    const struct fl_call *reader = own.fd < 0 ? NULL : reader_of(&slot->before, &own);
    struct fl_record r = {-EBADF, FORKLESS_STEP_EXEC, -1, -1, NULL};
    if (own.fd >= 0 && !reader)
        reader = reader_of(&slot->descriptors, &own);
    if (!reader && (own.fd < 0 || slot->command->program_fd != own.fd))
        return 0;
    if (reader)
        r = (struct fl_record){-EBADF, reader->step, reader->index, reader->from, reader->subject};
    if (reader && slot->helped.used) {
        slot->record = r;
        fl_helper_translate(slot);
        r = slot->record;
    }
    return fl_record_error(&r, slot->command, error);
}

static int check_all_own(forkless_child *slot, forkless_error *error) {
    const struct fl_helped *h = &slot->helped;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < slot->pipe_count; i++) {
        rc = check_own(slot, (struct own){slot->pipes[i].ours, -1}, error);
        if (rc == 0)
            rc = check_own(slot, (struct own){slot->pipes[i].theirs, slot->pipes[i].child_fd},
                           error);
    }
    const struct own of_helper[] = {{h->ours, -1},
                                    {h->theirs, h->base + FL_REPORT_FD},
                                    {h->job, h->base + FL_JOB_FD},
                                    {h->cgroup, h->base + FL_JOB_FDS},
                                    {h->program, -1}};
    for (size_t i = 0; rc == 0 && h->used && i < sizeof of_helper / sizeof *of_helper; i++)
        rc = check_own(slot, of_helper[i], error);
    return rc;
}

/* The descriptors of forkless-exec, in a gap between all others. False: there is no room. */
static bool add_helper(forkless_child *slot, struct fl_map *maps, size_t *count) {
    struct fl_helped *h = &slot->helped;
    size_t n = fl_job_roles(slot->command, NULL);
    h->roles = fl_slot_room(slot, n * sizeof *h->roles);
    if (!h->roles)
        return false;
    fl_job_roles(slot->command, h->roles);
    h->base = fl_plan_gap(slot->command, maps, *count, h->count);
    insert(maps, count, h->base + FL_JOB_FD, h->job);
    insert(maps, count, h->base + FL_REPORT_FD, h->theirs);
    for (size_t i = 0; i < n; i++) {
        int from = h->roles[i].from;
        insert(maps, count, h->base + FL_JOB_FDS + (int)i, from < 0 ? h->cgroup : from);
    }
    return true;
}

static int plan(forkless_child *slot, const forkless_override *o, forkless_error *error) {
    const struct fl_descriptors *d = &slot->command->descriptors;
    size_t over = o ? o->map_count : 0, most = d->count + over + slot->pipe_count - d->pipes;
    if (slot->helped.used)
        most += (size_t)slot->helped.count;
    bool few = over < ROOM_FOR && most < ROOM_FOR; /* both: the sum may be over the top */
    struct fl_map *maps = few ? fl_slot_room(slot, most * sizeof *maps) : NULL;
    struct fl_call *calls =
        maps ? fl_slot_room(slot, fl_plan_calls(slot->command, most) * sizeof *calls) : NULL;
    if (!calls)
        return fl_error(error, -E2BIG, FORKLESS_STEP_ARGUMENT, -1, NULL);
    size_t count = fl_maps_of(d, maps);
    int rc = replace(d, maps, &count, o ? o->maps : NULL, over);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_ARGUMENT, -1, NULL);
    for (unsigned i = 0; i < d->pipes; i++)
        insert(maps, &count, slot->pipes[i].child_fd, slot->pipes[i].theirs);
    for (unsigned i = (unsigned)d->pipes; rc == 0 && i < slot->pipe_count; i++)
        rc = replace_by_pipe(slot, o, maps, &count, &slot->pipes[i], error);
    if (rc < 0)
        return rc;
    if (slot->helped.used && !add_helper(slot, maps, &count))
        return fl_error(error, -E2BIG, FORKLESS_STEP_ARGUMENT, -1, NULL);
    slot->shares_table = fl_plan_shares_table(slot->command, slot->prepared->programs, maps, count);
    fl_plan_descriptors(slot->command, slot->program_fd, maps, count, &slot->descriptors, calls);
    return check_all_own(slot, error);
}

static bool is_valid(const forkless_override *o) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        reserved |= o->reserved[i];
    return reserved == 0 && (o->maps || o->map_count == 0);
}

static bool is_set(const forkless_command *c, const forkless_override *o, int fd) {
    bool set = fd <= 2 || c->descriptors.inherits ||
               fl_descriptors_find(&c->descriptors, fd) < c->descriptors.count;
    for (size_t i = 0; !set && o && i < o->map_count; i++)
        set = o->maps[i].child_fd == fd;
    return set;
}

/* What the child is to close at exec may still be open before: no terminal is taken from there. */
static int check_terminals(const forkless_command *c, const forkless_override *o,
                           forkless_error *error) {
    for (size_t i = 0; i < c->call_count; i++) {
        const struct fl_call *call = &c->calls[i];
        bool terminal =
            call->step == FORKLESS_STEP_TERMINAL || call->step == FORKLESS_STEP_FOREGROUND;
        if (terminal && !is_set(c, o, call->index))
            return fl_error(error, -EBADF, call->step, call->index, NULL);
    }
    return 0;
}

int fl_override(forkless_child *slot, const forkless_override *o, forkless_error *error) {
    const forkless_command *c = slot->command;
    const struct fl_prepared *prepared = slot->prepared;
    slot->argv = slot->helped.used ? prepared->helped.argv : c->argv;
    slot->descriptors = prepared->descriptors;
    slot->shares_table = prepared->shares_table;
    if (o && !is_valid(o))
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    int rc = check_terminals(c, o, error);
    if (rc < 0)
        return rc;
    bool arguments = slot->arguments || (o && o->arguments && o->arguments[0]);
    bool descriptors = slot->pipe_count > 0 || slot->helped.used || (o && o->map_count > 0);
    if (!arguments && !descriptors)
        return 0;
    rc = fl_slot_open_room(slot);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_SLOT, -1, NULL);
    rc = descriptors ? plan(slot, o, error) : 0;
    if (rc < 0)
        return rc;
    bool renamed = slot->helped.used && slot->helped.base != prepared->helped.base;
    if (arguments || renamed)
        rc = copy_arguments(slot, o ? o->arguments : NULL);
    if (rc < 0)
        return fl_error(error, rc, rc == -ENOMEM ? FORKLESS_STEP_SLOT : FORKLESS_STEP_ARGUMENT, -1,
                        NULL);
    return 0;
}
