#include "histogram.h"

#include <inttypes.h>
#include <stdio.h>

void histogram_add(struct histogram *h, int64_t ns) {
    size_t row = 0;
    for (int64_t us = ns / 1000; us > 0 && row < HISTOGRAM_ROWS - 1; us /= 2)
        row++;
    h->counts[row]++;
}

static uint64_t lower_end(size_t row) {
    return row ? UINT64_C(1) << (row - 1) : 0;
}

/* With an empty row before and after, where there are such. */
void histogram_print(const struct histogram *h) {
    enum { WIDTH = 40 };
    static const char bar[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
    size_t first = HISTOGRAM_ROWS, last = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < HISTOGRAM_ROWS; i++) {
        total += h->counts[i];
        if (h->counts[i] == 0)
            continue;
        if (first == HISTOGRAM_ROWS)
            first = i;
        last = i;
    }
    if (total == 0)
        return;
    printf("  %11s  ------------- distribution -------------  count\n", "us in call");
    for (size_t i = first ? first - 1 : 0; i <= last + 1 && i < HISTOGRAM_ROWS; i++)
        printf("  %11" PRIu64 " |%-*.*s %" PRIu64 "\n", lower_end(i), WIDTH,
               (int)((h->counts[i] * WIDTH + total / 2) / total), bar, h->counts[i]);
}

json_t *histogram_describe(const struct histogram *h) {
    json_t *rows = json_array();
    for (size_t i = 0; i < HISTOGRAM_ROWS; i++)
        if (h->counts[i] > 0)
            json_array_append_new(rows, json_pack("{s:I,s:I}", "us", (json_int_t)lower_end(i),
                                                  "count", (json_int_t)h->counts[i]));
    return rows;
}
