#pragma once

#include "facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run as its results file tells it; results/README.md says what each field means. */

/* Those of a spawn, and those that only some cells have. */
enum figure {
    CALL,
    READY,
    TOTAL,
    CPU,
    SPAWN_FIGURES,
    LONGEST = SPAWN_FIGURES,
    STALL,
    STALL_BUSY,
    STALL_WAITING,
    STALL_BLOCKED,
    BASELINE,
    AFTER_TIME,
    AFTER_FAULTS,
    TEARDOWN,
    SWITCHES,
    PREEMPTIONS,
    PAGE_TABLES,
    PEAK,
    /* What the kernel told of each child: its phases, then what the caller's clock has beyond it.
     */
    CREATE,
    WAKE,
    ENTER,
    SET_UP,
    EXEC,
    LOAD,
    RUN,
    REAP,
    WAITED,
    BEYOND_CALL,
    BEYOND_READY,
    BEYOND_TOTAL,
    FIGURES
};
enum state { NOT_RUN, MEASURED, FAILED, UNSUPPORTED, TIMEOUT, STATES };
enum level { FINE, NOTE, WARNING, UNKNOWN, LEVELS };

extern const char *const figure_names[FIGURES];
extern const char *const state_names[STATES];

struct samples {
    size_t count;
    double *ns;
};

/* One cell in one round. */
struct measurement {
    enum state state;
    char *reason; /* when it is neither measured nor not run */
    struct samples figures[FIGURES];
};

struct axes {
    char *strategy;
    int64_t rss;
    int64_t gap;
    int64_t at_once;
    int64_t fds;
    int64_t spawners;
    char *attributes;
    char *target;
    char
        *more; /* the others that are not at their defaults, as in the name: "pages:thp/load:all" */
};

/* The axes that are in a file only where they are not so; fds is then 0. */
#define NO_ATTRIBUTES "none"
#define PLAIN         .spawners = 1, .attributes = NO_ATTRIBUTES, .more = ""

struct cell {
    char *name;
    struct axes axes;
    int64_t commands; /* of its axes: all of a sample */
    int64_t asked;    /* the rounds in which it was to be measured, if not in all; else 0 */
    struct measurement *rounds;
};

struct block {
    double seconds;
    double steal;
    double load;
    double other;    /* NaN in schema 1, which does not tell */
    size_t round;    /* 0 in schema 1, of which nobody asks */
    int64_t rss;     /* likewise */
    char *ballast;   /* what it had beside memory, as in a name; NULL: nothing */
    char *disturbed; /* why its figures may be off; NULL when they may not */
};

/* What was looked at before the run, and before it went on. */
struct finding {
    char *name;
    enum level level;
    char *found;
    char *effect; /* NULL when there is nothing to say, as of what is good */
    char *next;
};

struct host {
    char *cpu;
    int64_t cpus;
    bool is_virtual;
    char *kernel;
    char *libc;
    int64_t page_size;
    char *hypervisor; /* NULL: none, or it cannot be told */
};

struct run {
    char *path;
    int64_t schema;
    char *matrix;
    int64_t seed;  /* -1 when the file does not tell */
    char *started; /* UTC; NULL likewise, as of the two below */
    char *version;
    char *library; /* build-id of the libforkless that was measured */
    size_t rounds;
    struct facts facts; /* all of the run line but its lists */
    struct host host;
    size_t cell_count;
    struct cell *cells;
    size_t block_count;
    struct block *blocks;
    size_t finding_count;
    struct finding *findings;
    size_t resumed; /* how often the run went on */
    bool ended;
    bool interrupted; /* when it ended */
};

/* NULL when the file is refused; *error is then one malloced sentence. */
struct run *run_read(const char *path, char **error);
const struct cell *run_cell(const struct run *run, const char *name); /* NULL when it has none */
void run_free(struct run *run);
