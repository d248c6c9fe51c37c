#pragma once

#include "run.h"
#include "stats.h"

/*
 * From a run to figures. The p50 of a cell's samples in one round is one value; a figure is the
 * median of these values over the rounds, and its interval comes from resampling the rounds.
 * Comparisons are made within each round before the median is taken.
 */

enum { DEFAULT_GAP = 1000000 };
#define DEFAULT_TARGET "tiny"

struct estimate {
    size_t rounds;      /* that gave a value */
    double value;       /* NaN without rounds */
    struct interval ci; /* 95%; NaN with fewer than two rounds */
};

/* How a figure grows with the size of the parent: in each round a line through its sizes. */
struct growth {
    struct estimate intercept; /* ns */
    struct estimate slope;     /* ns for each GiB of rss */
    struct estimate explained; /* R squared; of no rounds where there are but two sizes */
    int64_t reach;             /* the largest size that was measured */
};

/* A percentile of all samples of a cell, or their maximum where they are too few to tell. */
struct tail {
    double ns;
    bool is_maximum;
};

struct noise {
    bool known;   /* some block finished */
    bool high;    /* steal above 1 %, or load above what the run itself makes and a quarter of the
                     CPUs, or a tenth of the blocks disturbed */
    double steal; /* mean over the blocks, weighted by their seconds */
    double other; /* the same of what other programs used; NaN when a block does not tell */
    double load;  /* median over the blocks */
};

bool is_null(const struct cell *cell);
bool is_floor(const struct cell *cell);

/* Whether it is at the defaults of all axes but rss, gap, at_once and target. */
bool is_plain(const struct cell *cell);

/* Whether it is one of single spawns or bursts and of these axes, whatever its size. */
bool same_but_rss(const struct cell *cell, const struct axes *axes);

/* Whether they are of one case (spawn, batch, capture) and differ in the strategy alone. */
bool same_block(const struct cell *a, const struct cell *b);

/* NULL when the run has no such cell. */
const struct cell *find_cell(const struct run *run, struct axes axes);
const struct cell *find_null(const struct run *run); /* the plain one */

/* One value a round, malloced; NaN where the cell, which may be NULL, was not measured. */
double *by_round(const struct run *run, const struct cell *cell, enum figure figure, double p);

/* Of such values, which it frees; those that are no finite numbers do not count. */
struct estimate estimate(double *values, size_t rounds);

/* Where lines do not cross: finite, so that such rounds count, and a quantile may lie between it
 * and a place. Of such values; what is not at any place is infinite. */
extern const double NEVER;
struct estimate estimate_or_never(double *values, size_t rounds);

/*
 * 1, and one for each other strategy of its block that is surely less, by the differences within
 * each round: what the rounds do not tell apart shares a rank. 0: it has too few rounds, or is a
 * floor or the null cell.
 */
size_t rank_of(const struct run *run, const struct cell *cell, enum figure figure);

/* Fewer rounds are too few for an interval to rely on, and for a comparison. */
enum { ROUNDS_TO_RELY_ON = 6 };

double median(const struct run *run, const struct cell *cell, enum figure figure);
struct estimate estimate_figure(const struct run *run, const struct cell *cell, enum figure figure);
struct estimate estimate_ratio(const struct run *run, const struct cell *cell,
                               const struct cell *over, enum figure figure);
struct estimate estimate_difference(const struct run *run, const struct cell *cell,
                                    const struct cell *less, enum figure figure);
/* Of a figure, less another of the same sample. */
struct estimate estimate_within(const struct run *run, const struct cell *cell, enum figure figure,
                                enum figure less);
/* A percentile of all samples of a figure, less that of another figure of the same cell. */
struct estimate estimate_percentile_within(const struct run *run, const struct cell *cell,
                                           enum figure figure, enum figure less, double p);

/* Over the sizes of the cells that have these axes but for rss. */
struct growth estimate_growth(const struct run *run, struct axes axes, enum figure figure);
struct estimate estimate_growth_ratio(const struct run *run, struct axes axes, struct axes over,
                                      enum figure figure);

/* Whether it surely grows. */
bool tells_growth(const struct growth *growth);

/*
 * The figure at any rss: between the sizes of each round; beyond them by its line, or where no
 * growth can be told as at the largest; never below 0.
 */
struct estimate estimate_at(const struct run *run, struct axes axes, enum figure figure,
                            int64_t rss);

/*
 * The size in bytes from which on a figure is larger with these axes than with the others, between
 * the sizes of each round and beyond them by its lines. 0: at any size; infinite, as an end of the
 * interval may be: at none.
 */
struct estimate estimate_crossing(const struct run *run, struct axes axes, struct axes other,
                                  enum figure figure);

bool enough_for(size_t samples, double p);
size_t count_samples(const struct run *run, const struct cell *cell, enum figure figure);
struct tail tail(const struct run *run, const struct cell *cell, enum figure figure, double p);
struct estimate estimate_percentile(const struct run *run, const struct cell *cell,
                                    enum figure figure, double p);

/*
 * A percentile of one cell over that of another: of each round where each has samples enough, else
 * of the samples of all rounds that measured both together, and the rounds are resampled for both.
 */
struct estimate estimate_percentile_ratio(const struct run *run, const struct cell *cell,
                                          const struct cell *over, enum figure figure, double p);

struct noise noise(const struct run *run);
size_t count_disturbed(const struct run *run);                       /* of its blocks */
size_t count_rounds(const struct run *run, const struct cell *cell); /* that measured the cell */
size_t rounds_asked(const struct run *run, const struct cell *cell); /* that were to measure it */
size_t count_state(const struct run *run, enum state state);
