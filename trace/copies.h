/* All that was found of a family's copies, and how it is shown. */
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>
#include <stdio.h>

#include "cow.h"
#include "sharing.h"
#include "stacks.h"

/* The same mapping of all processes: by the name of a file, else by where it begins. */
struct copies_row {
    char name[COW_NAME + 64];
    __u64 device, inode, start, end;
    __u32 place;
    __u64 faults[COW_KINDS][2];
    __u64 copied; /* bytes */
};

struct copies {
    double seconds;
    __u64 processes;
    struct copies_row *rows; /* most copies first */
    size_t used, room;
    struct copies_row total;
    const struct stacks_entry *stacks;
    size_t stacks_used;
    struct sharings sharings;
    struct cow_lost lost;
    __u64 lost_records; /* of what the kernel tells of processes: names may be missing */
};

void copies_add(struct copies *, const struct cow_key *, const struct cow_mapping *);
/* Once all have been added. */
void copies_sort(struct copies *);
void copies_free(struct copies *);

/* Of one kind: those of programs and those of the kernel for them. */
__u64 copies_of(const struct copies_row *, unsigned kind);

void copies_text(const struct copies *, FILE *);
void copies_folded(const struct copies *, FILE *);
void copies_json(const struct copies *, FILE *);
/* As SVG files: how the share went, drawn by gnuplot, and the stacks as a flame graph. False: *why
 * is one malloced sentence. */
bool copies_plot(const struct copies *, const char *path, char **why);
bool copies_flame(const struct copies *, const char *title, const char *path, char **why);
/* What is not in there, one sentence a line; nothing when there is nothing to say. */
void copies_losses(const struct copies *, FILE *);

extern const char *const copies_kinds[COW_KINDS]; /* their names in JSON */

#endif
