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

void progress_announce(const struct matrix *m, unsigned rounds) {
    uint64_t rss[m->count], largest = 0;
    size_t ballasts = matrix_ballasts(m, rss);
    double seconds = 0; /* of a round, roughly */
    for (size_t i = 0; i < ballasts; i++) {
        seconds += 0.1 + 0.8 * gib(rss[i]);
        largest = rss[i] > largest ? rss[i] : largest;
    }
    for (size_t i = 0; i < m->count; i++)
        seconds += cell_seconds(&m->cells[i]);
    fprintf(stderr,
            "bench: %zu cell%s, %u round%s, about %.1f minutes, at most %.1f GiB of memory\n",
            m->count, m->count == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s",
            seconds * rounds / 60, gib(block_memory(largest)));
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
