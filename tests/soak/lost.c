#include "lost.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "worker.h"

/* Of the sanitizers, which keep books of their own. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* The library closes by raw system calls: a number that comes again is then taken for the same
 * descriptor. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:interceptor_close\nrace:interceptor_fclose\nrace:interceptor_epoll_ctl\n";
}

static size_t allocated(void) {
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static int lines_of(const char *path, bool print) {
    char line[1024];
    int n = 0;
    FILE *f = fopen(path, "re");
    MUST(f);
    while (fgets(line, sizeof line, f)) {
        n++;
        if (print)
            fprintf(stderr, "soak: %s", line);
    }
    fclose(f);
    return n;
}

/* Of stacks and slots that had not been as deep before. */
enum { GROWTH_KIB = 8 * 1024 };

static long resident(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    MUST(f && fscanf(f, "%*d %ld", &pages) == 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int descriptors(bool print) {
    int n = 0;
    for (int fd = 0; fd < 20000; fd++) {
        char path[32], target[256];
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        n++;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t size = print ? readlink(path, target, sizeof target) : -1;
        if (size > 0)
            fprintf(stderr, "soak: descriptor %d: %.*s\n", fd, (int)size, target);
    }
    return n;
}

static int children(void) {
    siginfo_t info;
    int rc = waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
    return rc < 0 && errno == ECHILD ? 0 : children_print();
}

__attribute__((format(printf, 2, 3))) static void add(struct inventory *i, const char *format,
                                                      ...) {
    size_t used = strlen(i->state);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(i->state + used, sizeof i->state - used, format, arguments);
    va_end(arguments);
}

static void add_state(struct inventory *i) {
    char cwd[4096];
    sigset_t mask;
    mode_t creation = umask(0);
    umask(creation);
    add(i, "cwd %s\numask %o\ngroup %d\nsession %d\n", getcwd(cwd, sizeof cwd) ? cwd : "?",
        creation, getpgrp(), getsid(0));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s <= SIGRTMAX; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) == 0)
            add(i, "signal %d %p %x %d\n", s, (void *)action.sa_handler, action.sa_flags,
                sigismember(&mask, s));
    }
    for (int r = 0; r < (int)RLIM_NLIMITS; r++) {
        struct rlimit limit;
        MUST(getrlimit((__rlimit_resource_t)r, &limit) == 0);
        add(i, "limit %d %lx %lx\n", r, limit.rlim_cur, limit.rlim_max);
    }
}

void inventory_take(struct inventory *i) {
    *i = (struct inventory){.descriptors = descriptors(false), .children = children()};
    add_state(i);
    i->mappings = lines_of("/proc/self/maps", false);
    malloc_trim(0); /* what is free does not count */
    i->resident_kib = resident();
    i->bytes = allocated();
}

bool inventory_compare(const struct inventory *before, const struct inventory *after) {
    int d = after->descriptors - before->descriptors, m = after->mappings - before->mappings;
    if (__sanitizer_get_current_allocated_bytes) { /* it maps what it likes */
        fprintf(stderr, "soak: unsupported: mappings under a sanitizer\n");
        m = 0;
    }
    long b = (long)after->bytes - (long)before->bytes;
    printf(
        "resident_kib %ld\ngrown_kib %ld\nlost_descriptors %d\nlost_children %d\nlost_mappings %d\n"
        "lost_bytes %ld\n",
        after->resident_kib, after->resident_kib - before->resident_kib, d, after->children, m, b);
    bool same = strcmp(before->state, after->state) == 0;
    if (!same)
        fprintf(stderr, "soak: the state before:\n%s\nand after:\n%s\n", before->state,
                after->state);
    if (d != 0)
        descriptors(true);
    if (m > 0)
        lines_of("/proc/self/maps", true);
    bool fits = __sanitizer_get_current_allocated_bytes ||
                after->resident_kib - before->resident_kib <= GROWTH_KIB;
    return same && fits && d == 0 && after->children == 0 && m <= 0 && b <= 0;
}
