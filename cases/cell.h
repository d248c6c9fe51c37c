/* A cell: one case with one value on each axis. */
#ifndef CELL_H
#define CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attributes.h"
#include "case.h"

/* In the order in which they stand in a name. */
enum axis {
    AXIS_STRATEGY,
    AXIS_RSS,
    AXIS_GAP,
    AXIS_AT_ONCE,
    AXIS_FDS,
    AXIS_SPAWNERS,
    AXIS_ATTRIBUTES,
    AXIS_TARGET,
    AXES
};

enum { CELL_NAME_SIZE = 256, CHUNK = 20, CHILDREN_MAX = 1024, FDS_MAX = 19000, SPAWNERS_MAX = 64 };

struct cell {
    const struct strategy *strategy;
    uint64_t rss;      /* bytes of ballast */
    uint64_t gap_ns;   /* the caller's own work before each sample */
    unsigned at_once;  /* children of each spawner in a sample */
    unsigned fds;      /* descriptors that are open beside the harness's own */
    unsigned spawners; /* threads that spawn at the same moment; 1: the only one that there is */
    const struct attribute *attribute;
    const char *target; /* the name of one that ships, or a path with a slash; kept by the caller */
    unsigned samples;   /* a round, in chunks of CHUNK */
    unsigned discards;  /* spawns before each chunk that are not recorded: what the cell before left
                           behind */
    char name[CELL_NAME_SIZE];
};

/* rss:0 gap:1ms at_once:1 fds:0 spawners:1 attributes:none target:tiny */
extern const struct cell cell_default;

/* As in files and on the command line: "rss". */
extern const char *const axis_names[AXES];

/* Sets one axis from text, which is kept. False with a sentence in `why`. */
bool cell_set(struct cell *, enum axis, const char *text, char *why, size_t size);

/* Children of one sample. */
unsigned cell_children(const struct cell *);

/* The axis whose value does not go with those before it, with a sentence in `why`; AXES: none. */
enum axis cell_conflict(const struct cell *, char *why, size_t size);

/* Gives it the name that follows from its axes. */
void cell_name(struct cell *);

/* "tiny", or the last part of a path. */
const char *target_name(const char *target);
/* One of those that ship. */
bool target_is_known(const char *target);

#endif
