#include "similar.h"

#include <string.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b, unsigned c) {
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions, changes and exchanges of neighbours (optimal string alignment). */
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    for (unsigned j = 0; j <= m; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1, now[j]);
        }
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

const char *similar(const char *meant, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t length = strlen(meant);
    unsigned nearest = length < 4 ? 2 : (unsigned)length / 3 + 2;
    for (size_t i = 0; i < count && length <= LONGEST; i++) {
        if (strlen(names[i]) > LONGEST)
            continue;
        unsigned d = distance(meant, names[i]);
        if (d < nearest) {
            nearest = d;
            best = names[i];
        }
    }
    return best;
}
