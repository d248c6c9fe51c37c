#include "spaces.h"

#include <dirent.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

/* Processes that fork without an exec have the same, until one maps more. */
struct shared {
    struct symbols *symbols;
    size_t users;
};

struct space {
    pid_t pid;
    struct shared *shared;
};

struct spaces {
    void *tree; /* of struct space */
};

struct spaces *spaces_new(void) {
    return calloc(1, sizeof(struct spaces));
}

static struct shared *share(struct symbols *symbols) {
    struct shared *shared = symbols ? malloc(sizeof *shared) : NULL;
    if (!shared) {
        symbols_free(symbols);
        return NULL;
    }
    *shared = (struct shared){.symbols = symbols, .users = 1};
    return shared;
}

static void leave(struct shared *shared) {
    if (!shared || --shared->users > 0)
        return;
    symbols_free(shared->symbols);
    free(shared);
}

static int by_pid(const void *left, const void *right) {
    const struct space *a = left, *b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct space *find(struct spaces *s, pid_t pid) {
    struct space key = {.pid = pid}, *const *found = tfind(&key, &s->tree, by_pid);
    return found ? *found : NULL;
}

/* In place of what is known of that process. */
static void set(struct spaces *s, pid_t pid, struct shared *shared) {
    struct space *space = find(s, pid);
    if (!space) {
        space = calloc(1, sizeof *space);
        if (space)
            space->pid = pid;
        if (!space || !tsearch(space, &s->tree, by_pid)) {
            free(space);
            leave(shared);
            return;
        }
    }
    leave(space->shared);
    space->shared = shared;
}

static void forget(struct spaces *s, struct space *space) {
    tdelete(space, &s->tree, by_pid);
    leave(space->shared);
    free(space);
}

static void free_space(void *space) {
    leave(((struct space *)space)->shared);
    free(space);
}

void spaces_free(struct spaces *s) {
    if (!s)
        return;
    tdestroy(s->tree, free_space);
    free(s);
}

void spaces_add(struct spaces *s, pid_t pid) {
    struct symbols *symbols = symbols_new(pid);
    if (symbols)
        symbols_read(symbols);
    set(s, pid, share(symbols));
}

struct symbols *spaces_find(struct spaces *s, pid_t pid) {
    struct space *space = find(s, pid);
    return space && space->shared ? space->shared->symbols : NULL;
}

/* Its first thread may end before the others. */
static bool has_other_threads(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    size_t entries = 0;
    while (folder && readdir(folder))
        entries++;
    if (folder)
        closedir(folder);
    return entries > 3; /* ".", ".." and the first one */
}

static void map(struct space *space, const struct mapping *m) {
    struct shared *shared = space->shared;
    if (!shared)
        return;
    if (shared->users > 1) {
        struct shared *own = share(symbols_copy(shared->symbols, space->pid));
        if (!own)
            return;
        leave(shared);
        space->shared = shared = own;
    }
    symbols_map(shared->symbols, m);
}

void spaces_take(struct spaces *s, const struct record *r) {
    if (r->kind == RECORD_FORK) {
        struct space *parent = r->pid == r->parent ? NULL : find(s, r->parent);
        if (parent && parent->shared) {
            parent->shared->users++;
            set(s, r->pid, parent->shared);
        }
        return;
    }
    struct space *space = find(s, r->pid);
    if (!space)
        return;
    if (r->kind == RECORD_EXEC)
        set(s, r->pid, share(symbols_new(r->pid)));
    else if (r->kind == RECORD_MAP)
        map(space, &r->mapping);
    else if (r->kind == RECORD_EXIT && r->pid == r->tid && !has_other_threads(r->pid))
        forget(s, space);
}
