/* Who called whom, by names. One trail that is seen again is the same object. */
#ifndef TRAIL_H
#define TRAIL_H

#include <stddef.h>

enum { TRAIL_MOST = 64 };

struct trail {
    struct trail *next; /* of trail.c */
    unsigned hash;
    size_t count;
    const char *names[]; /* innermost first */
};

/* These names; they are copied. Lives as long as the program. NULL: no memory. */
const struct trail *trail_get(const char *const *names, size_t count);

#endif
