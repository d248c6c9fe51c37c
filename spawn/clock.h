/* Times and deadlines. Private. */
#ifndef FL_CLOCK_H
#define FL_CLOCK_H

#include <stdint.h>
#include <time.h>

enum { FL_SECOND_NS = 1000000000 };

static inline struct timespec fl_timespec(int64_t ns) {
    return (struct timespec){.tv_sec = ns / FL_SECOND_NS, .tv_nsec = ns % FL_SECOND_NS};
}

static inline int64_t fl_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * FL_SECOND_NS + now.tv_nsec;
}

/* How long until the deadline; 0 when it has passed, INT64_MAX when it never will. */
static inline int64_t fl_left(int64_t deadline_ns) {
    if (deadline_ns <= 0 || deadline_ns == INT64_MAX)
        return deadline_ns <= 0 ? 0 : deadline_ns;
    int64_t now = fl_now();
    return deadline_ns > now ? deadline_ns - now : 0;
}

static inline int64_t fl_later(int64_t now, int64_t ns) {
    return ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

#endif
