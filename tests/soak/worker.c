#include "worker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "forkless.h"

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void nap_us(long microseconds) {
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&t, NULL);
}

void worker_begin(struct worker *w, bool exposed) {
    pthread_mutex_lock(&w->lock);
    w->exposed = exposed;
    w->hits = 0;
    pthread_mutex_unlock(&w->lock);
    w->doing[0] = '\0';
    w->operation++;
    w->since = now_ns();
    if (exposed)
        worker_says(w, "exposed");
}

enum { PATIENCE_NS = 1000000000 }; /* with who is about to die */

static bool has_child(siginfo_t *info) {
    info->si_pid = 0;
    forkless_quiesce(FORKLESS_NEVER);
    return waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) == 0;
}

/* Nobody is left behind, not even a zombie; but those who were not dead when the library gave up
 * are ours. */
static void check_no_child(struct worker *w) {
    siginfo_t info;
    for (; w->unknown > 0; w->unknown--)
        waitid(P_ALL, 0, &info, WEXITED | __WALL | __WNOTHREAD);
    for (int64_t end = now_ns() + PATIENCE_NS; has_child(&info); nap_us(1000))
        if (now_ns() > end)
            wrong(w, "child %d is left", info.si_pid);
}

void worker_end(struct worker *w) {
    check_no_child(w);
    pthread_mutex_lock(&w->lock);
    w->exposed = false;
    pthread_mutex_unlock(&w->lock);
    w->since = 0;
}

void worker_hit(struct worker *w, int signal) {
    pthread_mutex_lock(&w->lock);
    w->hits |= UINT64_C(1) << (signal - 1);
    pthread_mutex_unlock(&w->lock);
}

bool worker_was_hit(struct worker *w, int signal) {
    pthread_mutex_lock(&w->lock);
    bool hit = w->hits >> (signal - 1) & 1;
    pthread_mutex_unlock(&w->lock);
    return hit;
}

void worker_says(struct worker *w, const char *format, ...) {
    size_t used = strlen(w->doing), left = sizeof w->doing - used;
    va_list arguments;
    va_start(arguments, format);
    int n = used && left > 1 ? snprintf(w->doing + used, left, " ") : 0;
    vsnprintf(w->doing + used + n, left - (size_t)n, format, arguments);
    va_end(arguments);
}

void wrong(const struct worker *w, const char *format, ...) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char text[2048];
    va_list arguments;
    if (atomic_flag_test_and_set(&told))
        for (;;)
            pause();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (w)
        fprintf(stderr, "soak: seed %lu, %d threads: thread %d, operation %ld (%s): %s\n", w->seed,
                w->threads, w->number, atomic_load(&w->operation), w->doing, text);
    else
        fprintf(stderr, "soak: %s\n", text);
    children_end_all();
    _exit(1);
}
