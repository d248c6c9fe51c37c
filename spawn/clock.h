/* Deadlines. Private. */
#ifndef FL_CLOCK_H
#define FL_CLOCK_H

#include <stdint.h>
#include <time.h>

enum { FL_SECOND_NS = 1000000000 };

static inline struct timespec fl_timespec(int64_t ns) {
    return (struct timespec){.tv_sec = ns / FL_SECOND_NS, .tv_nsec = ns % FL_SECOND_NS};
}

/* How long until the deadline; 0 when it has passed. */
static inline int64_t fl_left(int64_t deadline_ns) {
    struct timespec now;
    if (deadline_ns <= 0)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)now.tv_sec * FL_SECOND_NS + now.tv_nsec;
    return deadline_ns > ns ? deadline_ns - ns : 0;
}

#endif
