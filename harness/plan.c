#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allowed.h"
#include "choose.h"
#include "memory.h"
#include "sample.h"
#include "units.h"

static double gib(uint64_t bytes) {
    return (double)bytes / (double)(UINT64_C(1) << 30);
}

static const char *s(double n) {
    return n == 1 ? "" : "s";
}

/* One spawn until it is reaped. */
static double spawn_seconds(const struct cell *cell) {
    if (!strategy_starts(cell->strategy))
        return cell->victim ? NULL_WINDOW_NS / 1e9 : 0;
    double closing = 0.00000004 * (double)cell->fds;      /* at exec */
    double waiting = cell->load == LOAD_IDLE ? 0 : 0.004; /* for a CPU */
    return closing + waiting +
           (cell->strategy->copies ? 0.001 + 0.025 * gib(cell->ballast.rss) : 0.0008);
}

/* Until a window may begin, twice a sample, and half a tick each. */
static double ticks_seconds(const struct cell *cell) {
    return cell->victim == VICTIM_TICKER ? TICK_NS / 1e9 : 0;
}

/* To write all of it once more; after a fork each page is a fault. */
static double rewrite_seconds(const struct cell *cell) {
    if (cell->memory != MEMORY_REWRITTEN && cell->after == AFTER_NONE)
        return 0;
    return gib(cell->ballast.rss) * (cell->strategy->copies ? 2 : 0.05);
}

static double making_seconds(const struct ballast *b) {
    return 0.1 + gib(b->rss) * (b->pages == PAGES_SIMULATED ? 0.1 : 0.8) +
           0.000005 * (double)b->mappings;
}

static double cell_seconds(const struct cell *cell) {
    double chunks = (cell->samples + CHUNK - 1) / CHUNK;
    unsigned spawns = cell_spawns(cell);
    double discards = (cell->discards + spawns - 1) / spawns;
    double taken = cell->samples + chunks * discards;
    double opening = 0.000005 * (double)cell->fds; /* and closing and counting them */
    double once = spawn_seconds(cell) * spawns + (double)cell->gap_ns / 1e9;
    return taken * (once * (cell->victim ? 2 : 1) + ticks_seconds(cell) + rewrite_seconds(cell)) +
           chunks * opening;
}

/* One ballast in one round, roughly. */
struct block_plan {
    const struct cell *like; /* of its ballast */
    uint64_t memory;
    bool fits;          /* into the memory that is there now */
    size_t cells, out;  /* of them those that will not be measured */
    double seconds;     /* with all its cells; over all rounds, */
    double all_seconds; /* in which some of its cells are not measured */
};

/* Whether a parent writes all that it shares with a child. */
static bool becomes_two(const struct matrix *m, const struct cell *like) {
    bool becomes = false;
    for (size_t i = 0; i < m->count && !becomes; i++)
        becomes = same_ballast(&m->cells[i], like) && m->cells[i].strategy->is_worker &&
                  m->cells[i].after == AFTER_LIVING;
    return becomes;
}

static uint64_t memory_of(const struct matrix *m, const struct cell *like) {
    unsigned copies = 0;
    for (size_t i = 0; i < m->count; i++)
        if (same_ballast(&m->cells[i], like) && m->cells[i].strategy->copies &&
            cell_children(&m->cells[i]) > copies)
            copies = cell_children(&m->cells[i]);
    if (becomes_two(m, like))
        return block_memory(2 * like->ballast.rss, copies);
    switch (like->ballast.pages) {
    case PAGES_SIMULATED:
        return simulated_memory(like->ballast.rss, copies);
    case PAGES_HUGETLB: /* they are reserved, and no longer available */
        return block_memory(0, copies);
    default:
        return block_memory(like->ballast.rss, copies);
    }
}

static unsigned rounds_of(const struct cell *cell, unsigned rounds) {
    return cell->rounds && cell->rounds < rounds ? cell->rounds : rounds;
}

static struct block_plan block_plan(const struct matrix *m, const struct cell *like,
                                    unsigned rounds) {
    unsigned most = 0;
    struct block_plan b = {
        .like = like, .memory = memory_of(m, like), .seconds = making_seconds(&like->ballast)};
    b.fits = b.memory <= memory_available();
    for (size_t i = 0; i < m->count; i++) {
        char why[WHY_SIZE];
        if (!same_ballast(&m->cells[i], like))
            continue;
        bool fits = b.fits && cell_allowed(&m->cells[i], why, sizeof why);
        b.cells++;
        b.out += !fits;
        double seconds = fits ? cell_seconds(&m->cells[i]) : 0;
        unsigned own = rounds_of(&m->cells[i], rounds);
        most = own > most ? own : most;
        b.seconds += seconds;
        b.all_seconds += seconds * own;
    }
    b.all_seconds += making_seconds(&like->ballast) * most;
    return b;
}

struct plan {
    struct block_plan *blocks;
    size_t count;
    /* Of the blocks that fit. */
    double seconds;
    uint64_t memory; /* of the one that takes most */
};

static struct plan make_plan(const struct matrix *m, unsigned rounds) {
    struct plan p = {.blocks = calloc(m->count, sizeof *p.blocks)};
    const struct cell **firsts = calloc(m->count, sizeof *firsts);
    p.count = p.blocks && firsts ? matrix_ballasts(m, firsts) : 0;
    for (size_t i = 0; i < p.count; i++) {
        struct block_plan *b = &p.blocks[i];
        *b = block_plan(m, firsts[i], rounds);
        if (!b->fits)
            continue;
        p.seconds += b->all_seconds;
        p.memory = b->memory > p.memory ? b->memory : p.memory;
    }
    free(firsts);
    return p;
}

static void duration(double seconds, char *out, size_t size) {
    if (seconds < 55)
        snprintf(out, size, "%.0f second%s", seconds < 1 ? 1 : seconds, seconds < 1.5 ? "" : "s");
    else if (seconds < 5400)
        snprintf(out, size, "%.0f minute%s", seconds / 60, seconds < 90 ? "" : "s");
    else
        snprintf(out, size, "%.1f hours", seconds / 3600);
}

unsigned plan_deadline(const struct matrix *m, const struct cell *like) {
    enum { LEAST = 120, SLOWER = 3 };
    double planned = SLOWER * block_plan(m, like, 1).seconds;
    return planned > LEAST ? (unsigned)planned : LEAST;
}

bool plan_fits(const struct matrix *m, const struct cell *like, char *why, size_t size) {
    uint64_t need = memory_of(m, like), there = memory_available();
    if (need <= there)
        return true;
    snprintf(why, size, "needs %.1f GiB of memory, %.1f GiB are available%s", gib(need), gib(there),
             memory_remedy(need));
    return false;
}

bool plan_fits_at_all(const struct matrix *m, char *why, size_t size) {
    char reason[WHY_SIZE / 2] = "", name[CELL_NAME_SIZE];
    const struct cell *smallest = NULL, *fitting = NULL;
    for (size_t i = 0; i < m->count; i++) {
        if (!strategy_starts(m->cells[i].strategy))
            continue;
        bool fits = plan_fits(m, &m->cells[i], reason, sizeof reason);
        if (fits && cell_allowed(&m->cells[i], reason, sizeof reason))
            return true;
        fitting = fits ? &m->cells[i] : fitting;
        if (!smallest || m->cells[i].ballast.rss < smallest->ballast.rss)
            smallest = &m->cells[i];
    }
    if (!smallest)
        return true;
    if (fitting) {
        cell_allowed(fitting, reason, sizeof reason);
        snprintf(why, size, "no cell fits: %s %s", fitting->name, reason);
        return false;
    }
    ballast_name(smallest, name, sizeof name);
    plan_fits(m, smallest, reason, sizeof reason);
    snprintf(why, size, "no cell fits: even a parent of %s %s", name, reason);
    return false;
}

void plan_sentence(const struct matrix *m, unsigned rounds, char *out, size_t size) {
    struct plan p = make_plan(m, rounds);
    char time[64];
    duration(p.seconds, time, sizeof time);
    snprintf(out, size, "%zu cell%s, %u round%s, about %s, at most %.1f GiB of memory", m->count,
             s((double)m->count), rounds, s(rounds), time, gib(p.memory));
    free(p.blocks);
}

/* Of a cell before this one. */
static bool is_said_before(const struct matrix *m, size_t index, const char *why) {
    char other[WHY_SIZE];
    for (size_t i = 0; i < index; i++)
        if (!cell_allowed(&m->cells[i], other, sizeof other) && strcmp(other, why) == 0)
            return true;
    return false;
}

/* What does not fit, why, and how many cells that is. */
static void print_misfits(const struct matrix *m, const struct plan *p) {
    char name[CELL_NAME_SIZE], why[WHY_SIZE] = "";
    size_t out = 0;
    for (size_t i = 0; i < p->count; i++)
        out += p->blocks[i].out;
    for (size_t i = 0; i < p->count && out; i++)
        if (!plan_fits(m, p->blocks[i].like, why, sizeof why)) {
            ballast_name(p->blocks[i].like, name, sizeof name);
            printf("\n%s %s", name, why);
        }
    for (size_t i = 0; i < m->count && out; i++)
        if (!cell_allowed(&m->cells[i], why, sizeof why) && !is_said_before(m, i, why))
            printf("\n%s %s", m->cells[i].name, why);
    if (out)
        printf("\n%zu of %zu cells would be recorded as unsupported.\n", out, m->count);
}

static int longest_name(const struct plan *p) {
    char name[CELL_NAME_SIZE];
    size_t longest = 10;
    for (size_t i = 0; i < p->count; i++) {
        ballast_name(p->blocks[i].like, name, sizeof name);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    return (int)longest;
}

void plan_print(const struct matrix *m, unsigned rounds) {
    struct plan p = make_plan(m, rounds);
    char time[64], name[CELL_NAME_SIZE];
    duration(p.seconds, time, sizeof time);
    printf("matrix   %s\n", m->name);
    printf("cells    %zu, in %zu kind%s of parent\n", m->count, p.count, s((double)p.count));
    printf("rounds   %u, about %s in all\n", rounds, time);
    printf("memory   at most %.1f GiB", gib(p.memory));
    if (memory_available() != UINT64_MAX)
        printf(", %.1f GiB are available", gib(memory_available()));
    printf("\n\n");
    int width = longest_name(&p);
    printf("%*s %7s %10s %17s\n", width, "parent", "cells", "memory", "seconds a round");
    for (size_t i = 0; i < p.count; i++) {
        const struct block_plan *b = &p.blocks[i];
        ballast_name(b->like, name, sizeof name);
        printf("%*s %7zu %6.1f GiB %17.1f%s\n", width, name, b->cells, gib(b->memory), b->seconds,
               b->fits ? "" : "   will not fit");
    }
    print_misfits(m, &p);
    free(p.blocks);
}

static void list_attributes(void) {
    enum { INDENT = 11, WIDTH = 80 };
    int at = printf("\n%-11seach", "attributes") - 1;
    for (size_t i = 0; i < attribute_count; i++) {
        int width = (int)strlen(attributes[i].name) + 2;
        bool wraps = at + width + 1 > WIDTH;
        printf(",%s%*s%s", wraps ? "\n" : "", wraps ? INDENT : 1, "", attributes[i].name);
        at = wraps ? INDENT + width - 2 : at + width;
    }
    putchar('\n');
}

void plan_list_matrices(void) {
    size_t count;
    char **names = matrix_names(&count), why[WHY_SIZE], sentence[160];
    for (size_t i = 0; i < count; i++) {
        struct choice c = {.name = names[i]};
        if (choice_make(&c, why, sizeof why)) {
            plan_sentence(&c.matrix, c.recipe->rounds, sentence, sizeof sentence);
            printf("%-10s %s\n%-10s %s\n", names[i], c.recipe->about, "", sentence);
        } else {
            printf("%-10s broken: %s\n", names[i], why);
        }
        choice_clear(&c);
    }
    matrix_names_free(names, count);
    list_attributes();
}

void plan_list_cells(const struct matrix *m) {
    for (size_t i = 0; i < m->count; i++)
        puts(m->cells[i].name);
}
