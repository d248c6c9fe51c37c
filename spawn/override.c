#include "override.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "plan.h"
#include "record.h"

enum { ROOM_FOR = 4096 }; /* maps, of which there are fewer in any case */

/* False: there is not so much room. */
static bool copy_arguments(forkless_child *slot, const char *const *more) {
    const forkless_command *c = slot->command;
    size_t n = 0;
    while (more[n])
        n++;
    char **argv = fl_slot_room(slot, (c->argc + n + 1) * sizeof *argv);
    if (!argv)
        return false;
    memcpy(argv, c->argv, c->argc * sizeof *argv);
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(more[i]) + 1;
        char *copy = fl_slot_room(slot, size);
        if (!copy)
            return false;
        argv[c->argc + i] = memcpy(copy, more[i], size);
    }
    argv[c->argc + n] = NULL;
    slot->argv = argv;
    return true;
}

static struct fl_map *place_of(struct fl_map *maps, size_t count, int to) {
    struct fl_map *m = maps;
    while (m < maps + count && m->to < to)
        m++;
    return m;
}

static void insert(struct fl_map *maps, size_t *count, int to, int from) {
    struct fl_map *m = place_of(maps, *count, to);
    memmove(m + 1, m, (size_t)(maps + *count - m) * sizeof *m);
    *m = (struct fl_map){.to = to, .from = from};
    (*count)++;
}

/* In the place of the command's own, or new; each number once. */
static int replace(const struct fl_descriptors *d, struct fl_map *maps, size_t *count,
                   const struct forkless_map *maps_over, size_t over) {
    for (size_t i = 0; i < over; i++) {
        int to = maps_over[i].child_fd, from = maps_over[i].parent_fd;
        if (to < 0 || from < 0)
            return -EBADF;
        for (size_t k = 0; k < i; k++)
            if (maps_over[k].child_fd == to)
                return -EEXIST;
        size_t own = fl_descriptors_find(d, to);
        if (own < d->count && d->sources[own].kind != FL_FROM)
            return -EEXIST;
        if (own < d->count)
            place_of(maps, *count, to)->from = from;
        else
            insert(maps, count, to, from);
    }
    return 0;
}

/* Whether a call other than the pipe's own reads one of its numbers. */
static bool reads_pipe(const struct fl_call *call, const struct fl_pipe *pipe) {
    bool folder = call->step == FORKLESS_STEP_CWD || call->step == FORKLESS_STEP_NAMESPACE;
    return fl_call_reads(call, pipe->ours) ||
           (fl_call_reads(call, pipe->theirs) && call->index != pipe->child_fd) ||
           (folder && (call->index == pipe->ours || call->index == pipe->theirs));
}

static const struct fl_call *reader_of(const struct fl_calls *calls, const struct fl_pipe *pipe) {
    for (size_t i = 0; i < calls->count; i++)
        if (reads_pipe(&calls->call[i], pipe))
            return &calls->call[i];
    return NULL;
}

/* -EBADF, told: something reads a number that was free until our pipe took it. */
static int check_pipe(const forkless_child *slot, const struct fl_pipe *pipe,
                      forkless_error *error) {
    const struct fl_call *reader = reader_of(&slot->before, pipe);
    struct fl_record r = {-EBADF, FORKLESS_STEP_EXEC, -1, -1, NULL};
    if (!reader)
        reader = reader_of(&slot->descriptors, pipe);
    if (reader)
        r = (struct fl_record){-EBADF, reader->step, reader->index, reader->from, reader->subject};
    else if (slot->program_fd != pipe->ours && slot->program_fd != pipe->theirs)
        return 0;
    return fl_record_error(&r, slot->command, error);
}

static int plan(forkless_child *slot, const forkless_override *o, forkless_error *error) {
    const struct fl_descriptors *d = &slot->command->descriptors;
    size_t over = o ? o->map_count : 0, most = d->count + over, count = 0;
    bool few = over < ROOM_FOR && most < ROOM_FOR; /* both: the sum may be over the top */
    struct fl_map *maps = few ? fl_slot_room(slot, most * sizeof *maps) : NULL;
    struct fl_call *calls =
        maps ? fl_slot_room(slot, fl_plan_calls(slot->command, most) * sizeof *calls) : NULL;
    if (!calls)
        return fl_error(error, -E2BIG, FORKLESS_STEP_ARGUMENT, -1, NULL);
    for (size_t i = 0; i < d->count; i++)
        if (d->sources[i].kind == FL_FROM)
            maps[count++] = (struct fl_map){.to = d->sources[i].to, .from = d->sources[i].from};
    int rc = replace(d, maps, &count, o ? o->maps : NULL, over);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_ARGUMENT, -1, NULL);
    for (unsigned i = 0; i < slot->pipe_count; i++)
        insert(maps, &count, slot->pipes[i].child_fd, slot->pipes[i].theirs);
    slot->shares_table = fl_plan_shares_table(slot->command, maps, count);
    fl_plan_descriptors(slot->command, slot->program_fd, maps, count, &slot->descriptors, calls);
    for (unsigned i = 0; rc == 0 && i < slot->pipe_count; i++)
        rc = check_pipe(slot, &slot->pipes[i], error);
    return rc;
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
    slot->argv = c->argv;
    slot->descriptors = slot->prepared->descriptors;
    slot->shares_table = slot->prepared->shares_table;
    if (o && !is_valid(o))
        return fl_error(error, -EINVAL, FORKLESS_STEP_ARGUMENT, -1, NULL);
    int rc = check_terminals(c, o, error);
    if (rc < 0)
        return rc;
    bool arguments = o && o->arguments && o->arguments[0];
    bool descriptors = slot->pipe_count > 0 || (o && o->map_count > 0);
    if (!arguments && !descriptors)
        return 0;
    rc = fl_slot_open_room(slot);
    if (rc < 0)
        return fl_error(error, rc, FORKLESS_STEP_SLOT, -1, NULL);
    if (arguments && !copy_arguments(slot, o->arguments))
        return fl_error(error, -E2BIG, FORKLESS_STEP_ARGUMENT, -1, NULL);
    return descriptors ? plan(slot, o, error) : 0;
}
