#include "images.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

/* A file that is mapped. Processes that fork without an exec have the same until one maps more. */
struct piece {
    struct mapping mapping;
    char path[];
};

struct image {
    size_t users;
    size_t count;
    struct piece **pieces;
};

struct process {
    pid_t pid;
    struct image *image;
};

struct images {
    struct records *records;
    void *processes; /* a tree */
};

struct images *images_new(void) {
    struct images *all = calloc(1, sizeof *all);
    if (all)
        all->records = records_open();
    if (all && all->records)
        return all;
    free(all);
    return NULL;
}

static void leave(struct image *image) {
    if (!image || --image->users > 0)
        return;
    for (size_t i = 0; i < image->count; i++)
        free(image->pieces[i]);
    free(image->pieces);
    free(image);
}

static void free_process(void *process) {
    leave(((struct process *)process)->image);
    free(process);
}

void images_free(struct images *all) {
    if (!all)
        return;
    tdestroy(all->processes, free_process);
    records_close(all->records);
    free(all);
}

static int by_pid(const void *left, const void *right) {
    const struct process *a = left, *b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct process *find(const struct images *all, pid_t pid) {
    struct process key = {.pid = pid}, *const *found = tfind(&key, &all->processes, by_pid);
    return found ? *found : NULL;
}

static void forget(struct images *all, pid_t pid) {
    struct process *process = find(all, pid);
    if (!process)
        return;
    tdelete(process, &all->processes, by_pid);
    free_process(process);
}

/* Takes the image, in place of what was known of that process. */
static void set(struct images *all, pid_t pid, struct image *image) {
    forget(all, pid);
    struct process *process = image ? malloc(sizeof *process) : NULL;
    if (process) {
        *process = (struct process){pid, image};
        if (tsearch(process, &all->processes, by_pid))
            return;
        free(process);
    }
    leave(image);
}

static struct image *new_image(void) {
    struct image *image = calloc(1, sizeof *image);
    if (image)
        image->users = 1;
    return image;
}

static void add(struct image *image, const struct mapping *m) {
    size_t length = strlen(m->path) + 1;
    struct piece *piece = malloc(sizeof *piece + length);
    struct piece **pieces = realloc(image->pieces, (image->count + 1) * sizeof *pieces);
    if (pieces)
        image->pieces = pieces;
    if (!piece || !pieces) {
        free(piece);
        return;
    }
    memcpy(piece->path, m->path, length);
    piece->mapping = *m;
    piece->mapping.path = piece->path;
    pieces[image->count++] = piece;
}

static void map(struct images *all, const struct record *r) {
    struct process *process = find(all, r->pid);
    if (!process || r->mapping.inode == 0)
        return;
    if (process->image->users > 1) {
        struct image *shared = process->image, *own = new_image();
        if (!own)
            return;
        for (size_t i = 0; i < shared->count; i++)
            add(own, &shared->pieces[i]->mapping);
        leave(shared);
        process->image = own;
    }
    add(process->image, &r->mapping);
}

void images_advance(struct images *all, uint64_t until) {
    struct record record;
    while (all && records_next(all->records, until, &record)) {
        struct process *parent;
        switch (record.kind) {
        case RECORD_FORK:
            parent = record.pid == record.parent ? NULL : find(all, record.parent);
            if (!parent)
                break;
            parent->image->users++;
            set(all, record.pid, parent->image);
            break;
        case RECORD_EXEC:
            set(all, record.pid, new_image());
            break;
        case RECORD_MAP:
            map(all, &record);
            break;
        case RECORD_EXIT:
            if (record.pid == record.tid)
                forget(all, record.pid);
            break;
        }
    }
}

void images_map(const struct images *all, pid_t pid, struct symbols *symbols) {
    const struct process *process = all ? find(all, pid) : NULL;
    for (size_t i = 0; process && i < process->image->count; i++)
        symbols_map(symbols, &process->image->pieces[i]->mapping);
}
