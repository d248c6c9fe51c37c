/* What the creations of each program cost it, taken together. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "creation.h"
#include "histogram.h"
#include "intervals.h"

enum { SUMMARY_TRAILS = 3 };

/* Those of one kind. */
struct tally {
    uint64_t count, failed, execs, exits, runs_on; /* what is left of `count` is not known */
    int64_t *calls; /* how long each held its caller, ns; in order when the trace has ended */
    size_t room;
    int64_t total; /* of these */
    struct histogram histogram;
    const struct creation *largest; /* a copy of the one whose caller was largest */
    int64_t (*phases)[INTERVALS];   /* of those of which something is known */
    size_t phase_count, phase_room;
    struct trail_count {
        const struct trail *trail;
        uint64_t count;
    } * trails; /* the most frequent first, when the trace has ended */
    size_t trail_count;
};

enum { TALLY_FORK, TALLY_VFORK_CLASS, TALLIES };

struct program_summary {
    char name[SPAWN_NAME];
    struct tally tallies[TALLIES];
    pid_t pid; /* of its newest caller */
};

struct summary {
    struct program_summary
        *programs; /* those that waited longest first, when the trace has ended */
    size_t count;
};

/* 0 or -errno. */
int summary_add(struct summary *, const struct creation *);
/* Puts all in order. */
void summary_end(struct summary *);
void summary_free(struct summary *);

int64_t tally_median(const struct tally *);
/* Of each interval, over those in which it is known; else INTERVAL_UNKNOWN. */
void tally_phases(const struct tally *, int64_t medians[INTERVALS]);

#endif
