/* How often a duration was of which size, by powers of two, as DTrace's quantize() shows it. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <jansson.h>
#include <stdint.h>

enum { HISTOGRAM_ROWS = 45 };

/* Row 0 is below 1 us, row n from 2^(n-1) us on. */
struct histogram {
    uint64_t counts[HISTOGRAM_ROWS];
};

void histogram_add(struct histogram *, int64_t ns);
void histogram_print(const struct histogram *);
/* [{"us": 1024, "count": 7}, ...]: the rows that are not empty, each with its lower end. */
json_t *histogram_describe(const struct histogram *);

#endif
