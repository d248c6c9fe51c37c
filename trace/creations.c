#include "creations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct creations {
    struct audience audience;
    struct creation *buckets[BUCKETS];
    struct creation *oldest, *newest; /* of those that are not shown */
    size_t waiting;                   /* how many of these were told */
};

struct creations *creations_new(const struct audience *audience) {
    struct creations *all = calloc(1, sizeof *all);
    if (all)
        all->audience = *audience;
    return all;
}

static struct creation **find(struct creations *all, uint64_t id) {
    struct creation **at = &all->buckets[id % BUCKETS];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static struct creation *get(struct creations *all, uint64_t id) {
    struct creation **at = find(all, id);
    if (*at)
        return *at;
    struct creation *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->id = id;
    c->older = all->newest;
    if (all->newest)
        all->newest->newer = c;
    else
        all->oldest = c;
    all->newest = c;
    return *at = c;
}

static void leave_queue(struct creations *all, struct creation *c) {
    *(c->older ? &c->older->newer : &all->oldest) = c->newer;
    *(c->newer ? &c->newer->older : &all->newest) = c->older;
}

static void show(struct creations *all, struct creation *c) {
    leave_queue(all, c);
    c->shown = true;
    all->waiting--;
    if (all->audience.look && !c->phases_end)
        all->audience.look(all->audience.argument, c);
    c->counts = all->audience.show(all->audience.argument, c);
}

static void settle(struct creations *all, struct creation *c) {
    if (!c->shown)
        show(all, c);
    if (c->counts)
        all->audience.settle(all->audience.argument, c);
    struct creation **at = find(all, c->id);
    *at = c->next;
    free(c);
}

static bool did_something(const struct creation *c) {
    return c->then == THEN_EXEC || c->then == THEN_EXIT;
}

static bool is_complete(const struct creations *all, const struct creation *c) {
    bool phased = !all->audience.look || c->phases_end;
    return c->told && (c->then == THEN_FAILED || (did_something(c) && phased));
}

int creations_created(struct creations *all, const struct spawn_created *r,
                      const struct trail *trail, const char *no_trail) {
    struct creation *c = get(all, r->id);
    if (!c)
        return -ENOMEM;
    c->asked = (int64_t)r->asked;
    c->call = (int64_t)r->took;
    c->flags = r->flags;
    c->how = r->call;
    c->rss = r->rss;
    c->page_tables = r->page_tables;
    c->mappings = r->mappings;
    c->threads = r->threads;
    c->pid = r->pid;
    c->tid = r->tid;
    c->child = r->child;
    c->error = r->error;
    c->caller_ended = r->ended;
    memcpy(c->name, r->name, sizeof c->name);
    memcpy(c->thread, r->thread, sizeof c->thread);
    c->trail = trail;
    c->no_trail = no_trail;
    if (!c->child)
        c->then = THEN_FAILED;
    if (!c->told)
        all->waiting++;
    c->told = true;
    if (is_complete(all, c))
        settle(all, c);
    return 0;
}

int creations_then(struct creations *all, const struct spawn_then *r) {
    struct creation *c = get(all, r->id);
    if (!c)
        return -ENOMEM;
    c->then = r->did == DID_EXEC ? THEN_EXEC : THEN_EXIT;
    c->when = (int64_t)r->when;
    c->status = r->status;
    c->exec_error = r->did == DID_EXEC ? 0 : r->error;
    memccpy(c->path, r->path, '\0', sizeof c->path);
    if (is_complete(all, c))
        settle(all, c);
    return 0;
}

int creations_phases(struct creations *all, const struct phases_record *r) {
    struct creation *c = get(all, r->id);
    if (!c)
        return -ENOMEM;
    c->phases = *r;
    c->phases_end = true;
    if (is_complete(all, c))
        settle(all, c);
    return 0;
}

size_t creations_expire(struct creations *all, int64_t now, bool lost) {
    for (struct creation *c = all->oldest, *newer; c; c = newer) {
        newer = c->newer;
        if (!c->told)
            continue;
        if (now - c->asked - c->call < RUNS_ON_NS)
            break;
        if (!did_something(c))
            c->then = lost ? THEN_UNKNOWN : THEN_RUNS_ON;
        show(all, c);
    }
    return all->waiting;
}

void creations_end(struct creations *all) {
    creations_expire(all, INT64_MAX, true);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct creation *c = all->buckets[i], *next; c; c = next) {
            next = c->next;
            if (c->told)
                settle(all, c);
        }
}

void creations_free(struct creations *all) {
    if (!all)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct creation *c = all->buckets[i], *next; c; c = next) {
            next = c->next;
            free(c);
        }
    free(all);
}
