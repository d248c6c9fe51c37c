#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static double gib(uint64_t bytes) {
    return (double)bytes / (double)(UINT64_C(1) << 30);
}

/* One spawn until it is reaped. */
static double spawn_seconds(const struct cell *cell) {
    if (!cell->strategy->body)
        return 0;
    return cell->strategy->copies ? 0.001 + 0.025 * gib(cell->rss) : 0.0008;
}

static double cell_seconds(const struct cell *cell) {
    double chunks = (cell->samples + CHUNK - 1) / CHUNK;
    double discards = (cell->discards + cell->at_once - 1) / cell->at_once;
    double taken = cell->samples + chunks * discards;
    return taken * (spawn_seconds(cell) * cell->at_once + (double)cell->gap_ns / 1e9);
}

/* Rough: what the cells of one ballast take in one round. */
static double block_seconds(const struct matrix *m, uint64_t rss) {
    double seconds = 0.1 + 0.8 * gib(rss);
    for (size_t i = 0; i < m->count; i++)
        if (m->cells[i].rss == rss)
            seconds += cell_seconds(&m->cells[i]);
    return seconds;
}

static uint64_t largest(const struct matrix *m) {
    uint64_t rss = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->cells[i].rss > rss)
            rss = m->cells[i].rss;
    return rss;
}

void progress_announce(const struct matrix *m, unsigned rounds) {
    double seconds = 0;
    for (size_t i = 0; i < m->count; i++) {
        size_t first = 0;
        while (m->cells[first].rss != m->cells[i].rss)
            first++;
        if (first == i)
            seconds += block_seconds(m, m->cells[i].rss);
    }
    fprintf(stderr,
            "bench: %zu cell%s, %u round%s, about %.1f minutes, at most %.1f GiB of memory\n",
            m->count, m->count == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s",
            seconds * rounds / 60, gib(block_memory(largest(m))));
}

void progress_bar(unsigned done, unsigned total, double seconds) {
    enum { WIDTH = 40 };
    if (!isatty(STDERR_FILENO))
        return;
    if (total == 0) {
        fputs("\r\033[K", stderr);
        return;
    }
    char bar[WIDTH + 1] = {0};
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)WIDTH * done / total);
    fprintf(stderr, "\r[%s] %u of %u blocks", bar, done, total);
    if (done > 0)
        fprintf(stderr, ", %.0f s left ", seconds / done * (total - done));
}
