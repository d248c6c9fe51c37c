/* A cell: one case with one value on each axis (axes.h). */
#ifndef CELL_H
#define CELL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attributes.h"
#include "case.h"

enum {
    CELL_NAME_SIZE = 256,
    CHUNK = 20,
    CHILDREN_MAX = 1024,
    FDS_MAX = 19000,
    SPAWNERS_MAX = 64,
    MAPPINGS_MAX = 50000,
    THREADS_MAX = 64,
    COMMANDS_MAX = 10000
};

/* What the parent is before it spawns: made once a block, for all of its cells. */
struct ballast {
    uint64_t rss;      /* bytes */
    uint64_t pages;    /* which kind of them */
    uint64_t mappings; /* of a page each, beside the memory */
    uint64_t traced;   /* the kernel's own view of it: by whom */
};

/* Mappings that it is, and how many at most a block has beside them. */
enum { OWN_MAPPINGS = 512 };
uint64_t ballast_mappings(const struct ballast *);

/* Words of axes, in the order of their names in axes.c. */
enum { PAGES_4K, PAGES_THP, PAGES_HUGETLB, PAGES_SHARED, PAGES_HEAP, PAGES_SIMULATED };
enum { MEMORY_IDLE, MEMORY_REWRITTEN, MEMORY_DONTFORK };
enum { BETWEEN_WORK, BETWEEN_TOUCH, BETWEEN_SLEEP };
enum { PIN_NONE, PIN_CALLER };
enum { LOAD_IDLE, LOAD_OTHERS, LOAD_ALL, LOADS };
enum traced { TRACED_NO, TRACED_PHASES, TRACED_SPAWNS };

/* A thread of the parent that does not spawn. */
enum victim_kind {
    VICTIM_NONE,
    VICTIM_SPINNER, /* reads the clock in a loop; stands still between two readings */
    VICTIM_FAULTER, /* touches new pages of a mapping of its own; stands still in a fault */
    VICTIM_TICKER,  /* waits for the next tick in epoll_wait; stands still while one is late */
};

/* When the parent writes its ballast once more. */
enum after_kind { AFTER_NONE, AFTER_LIVING, AFTER_GONE };

/* Where it is. */
enum place {
    PLACE_FREE,   /* where the scheduler puts it */
    PLACE_BESIDE, /* on the one CPU that the spawner and its children are on */
    PLACE_AWAY,   /* on another one */
};

struct cell {
    const struct strategy *strategy;
    struct ballast ballast;
    uint64_t memory;   /* what becomes of the ballast */
    uint64_t threads;  /* that sleep */
    uint64_t gap_ns;   /* the caller's own time before each sample */
    uint64_t between;  /* what it does in it */
    uint64_t at_once;  /* children of each spawner in a sample */
    uint64_t commands; /* of a sample, `at_once` of which run at a time; 1: just these */
    uint64_t fds;      /* descriptors that are open beside the harness's own */
    uint64_t spawners; /* threads that spawn at the same moment; 1: the only one that there is */
    uint64_t pin;      /* where the caller may run, and with it its children */
    uint64_t load;     /* what the CPUs do beside it */
    const struct attribute *attribute;
    uint64_t victim;    /* enum victim_kind */
    uint64_t place;     /* enum place */
    uint64_t after;     /* enum after_kind */
    const char *target; /* the name of one that ships, or a path with a slash; kept by the caller */
    unsigned rounds;    /* in which it is measured, the first ones; 0: in all */
    unsigned samples;   /* a round, in chunks of CHUNK */
    unsigned discards;  /* spawns before each chunk that are not recorded: what the cell before left
                           behind */
    char name[CELL_NAME_SIZE];
};

/* No strategy; gap:1ms at_once:1 commands:1 spawners:1 attributes:none target:tiny; else 0, or the
 * first word
 */
extern const struct cell cell_default;

/* Whether it is measured in a round, from 0. */
bool cell_is_in(const struct cell *, unsigned round);

/* Whether it needs other threads than the caller's. */
bool cell_has_threads(const struct cell *);

/* Children that live together, and all of one sample. */
unsigned cell_children(const struct cell *);
unsigned cell_spawns(const struct cell *);

/* Its children, those that start them, and the parent's threads. */
unsigned cell_processes(const struct cell *);

/* Descriptors that its children cost the caller until they are waited for. */
unsigned cell_descriptors(const struct cell *);

/* Gives it the name that follows from its axes. */
void cell_name(struct cell *);

/* "tiny", or the last part of a path. */
const char *target_name(const char *target);
/* Whether it stamps its first instruction. */
bool target_stamps(const char *target);
/* One of those that ship. */
bool target_is_known(const char *target);
/* Whether this can be a cell's; else a sentence in `why`. */
bool target_check(const char *target, char *why, size_t size);

#endif
