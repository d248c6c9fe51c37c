#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"

enum {
    PAGE = 4096,
    FRESH = 4 << 20, /* bytes that the faulter touches before it gives them back */
    LONG_NS = 20000, /* what is shorter is not split, but busy: to split it would take as long */
    ACCOUNT_TRIES = 3,
};

/* The word that caller and victim wait at. While it is SHUT the window is the caller's, else the
 * victim's. */
enum state { STARTING, SHUT, OPEN, CLOSING, OVER };

/* What the victim has had until a moment; all in ns. */
struct account {
    int64_t at, cpu, waited;
};

struct kind {
    int (*prepare)(struct victim *); /* 0 or -errno */
    /* Until the victim could be seen to go on: from `begin` on it stood still. False: there was
     * nothing to be seen. `next` is then when the next stall can begin. */
    bool (*step)(struct victim *, int64_t *begin, int64_t *end);
    void (*cleanup)(struct victim *);
    bool sleeps; /* between steps */
};

struct victim {
    const struct kind *kind;
    atomic_uint state;
    int problem; /* -errno */
    pthread_t thread;
    int64_t opened, closed;
    struct stall longest;

    /* The victim's own. */
    int64_t next;
    struct account account;
    int schedstat;
    char *fresh; /* faulter */
    size_t touched;
    int timer, kick, poll; /* ticker */
    int64_t first;         /* of its ticks, all else are whole TICK_NS later */

    cpu_set_t callers; /* what the caller may run on, once it is let go */
    bool is_pinned;
};

static void wait_while(atomic_uint *word, unsigned value) {
    while (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void set_state(struct victim *v, enum state state) {
    atomic_store(&v->state, state);
    syscall(SYS_futex, &v->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The second number: how long it could have run, and did not. */
static int64_t read_waited(int fd) {
    char text[96];
    long long ran, waited = -1;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%lld %lld", &ran, &waited) == 2 ? waited : -1;
}

/* Where the victim is held up while it reads, what it read does not go together, and it stood still
 * until `end` instead. */
static struct account account_now(const struct victim *v, int64_t *end) {
    struct account now;
    for (int i = 0; i < ACCOUNT_TRIES; i++) {
        int64_t began = now_ns();
        now.waited = read_waited(v->schedstat);
        now.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        now.at = now_ns();
        if (now.at - began < LONG_NS)
            break;
        *end = now.at;
    }
    return now;
}

static int64_t within(int64_t ns, int64_t most) {
    return ns < 0 ? 0 : ns > most ? most : ns;
}

/* What is not split off was spent running, since the last account was taken. */
static struct stall split(const struct victim *v, const struct account *now, int64_t begin,
                          int64_t end) {
    struct stall stall = {.ns = end - begin};
    int64_t ran_before = v->kind->sleeps ? 0 : begin - v->account.at;
    stall.waiting = within(now->waited - v->account.waited, stall.ns);
    stall.busy =
        within(now->cpu - v->account.cpu - ran_before - (now->at - end), stall.ns - stall.waiting);
    stall.blocked = stall.ns - stall.waiting - stall.busy;
    return stall;
}

static void note(struct victim *v, enum state state, int64_t begin, int64_t end) {
    struct stall stall = {.ns = end - begin, .busy = end - begin};
    if (stall.ns >= LONG_NS || v->kind->sleeps) {
        struct account now = account_now(v, &end);
        stall = split(v, &now, begin, end);
        v->account = now;
    }
    bool counts = (state == OPEN || (state == CLOSING && begin <= v->closed)) && end >= v->opened;
    if (counts && stall.ns > v->longest.ns)
        v->longest = stall;
}

/* The window is the caller's again. */
static void shut(struct victim *v) {
    int64_t end;
    v->account = account_now(v, &end);
    set_state(v, SHUT);
}

static int prepare(struct victim *v) {
    v->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (v->schedstat < 0)
        return errno == ENOENT ? -ENOTSUP : -errno;
    if (read_waited(v->schedstat) < 0)
        return -ENOTSUP;
    return v->kind->prepare ? v->kind->prepare(v) : 0;
}

static void *live(void *argument) {
    struct victim *v = argument;
    v->problem = prepare(v);
    shut(v);
    while (v->problem == 0) {
        int64_t begin, end;
        bool seen = v->kind->step(v, &begin, &end);
        enum state state = atomic_load(&v->state);
        if (seen)
            note(v, state, begin, end);
        if (state == CLOSING && v->next > v->closed)
            shut(v);
        if (state == OVER)
            break;
    }
    if (v->kind->cleanup)
        v->kind->cleanup(v);
    if (v->schedstat >= 0)
        close(v->schedstat);
    return NULL;
}

static bool spin(struct victim *v, int64_t *begin, int64_t *end) {
    *begin = v->account.at > v->next ? v->account.at : v->next;
    *end = v->next = now_ns();
    return true;
}

static const struct kind spinner = {.step = spin};

static int map_fresh(struct victim *v) {
    v->fresh = mmap(NULL, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (v->fresh == MAP_FAILED) {
        v->fresh = NULL;
        return -errno;
    }
    madvise(v->fresh, FRESH, MADV_NOHUGEPAGE); /* EINVAL: there are none */
    return 0;
}

/* It may have been held up between two faults, in madvise() for instance, and did not run then. */
static void account_between(struct victim *v) {
    int64_t end, since = v->account.at > v->next ? v->account.at : v->next;
    if (now_ns() - since >= LONG_NS)
        v->account = account_now(v, &end);
}

static bool touch(struct victim *v, int64_t *begin, int64_t *end) {
    if (v->touched == FRESH) {
        madvise(v->fresh, FRESH, MADV_DONTNEED);
        v->touched = 0;
    }
    volatile char *page = v->fresh + v->touched;
    account_between(v);
    *begin = now_ns();
    *page = 1;
    *end = v->next = now_ns();
    v->touched += PAGE;
    return true;
}

static void unmap_fresh(struct victim *v) {
    if (v->fresh)
        munmap(v->fresh, FRESH);
}

static const struct kind faulter = {.prepare = map_fresh, .step = touch, .cleanup = unmap_fresh};

/* The caller has the other end of `kick`, so that it need not wait for a tick. */
static int start_ticking(struct victim *v) {
    struct epoll_event event = {.events = EPOLLIN};
    v->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    v->poll = epoll_create1(EPOLL_CLOEXEC);
    v->next = v->first = now_ns() + TICK_NS;
    struct itimerspec ticks = {
        .it_value = {.tv_sec = v->next / 1000000000, .tv_nsec = v->next % 1000000000},
        .it_interval = {.tv_nsec = TICK_NS},
    };
    if (v->timer < 0 || v->poll < 0 ||
        timerfd_settime(v->timer, TFD_TIMER_ABSTIME, &ticks, NULL) < 0 ||
        epoll_ctl(v->poll, EPOLL_CTL_ADD, v->timer, &event) < 0 ||
        epoll_ctl(v->poll, EPOLL_CTL_ADD, v->kick, &event) < 0)
        return -errno;
    return 0;
}

static bool tick(struct victim *v, int64_t *begin, int64_t *end) {
    struct epoll_event event;
    uint64_t ticks, kicks;
    epoll_wait(v->poll, &event, 1, -1);
    bool is_due = read(v->timer, &ticks, sizeof ticks) == sizeof ticks;
    *begin = v->next;
    *end = now_ns();
    if (is_due)
        v->next += (int64_t)ticks * TICK_NS;
    while (read(v->kick, &kicks, sizeof kicks) == sizeof kicks)
        continue;
    return is_due;
}

static void stop_ticking(struct victim *v) {
    if (v->timer >= 0)
        close(v->timer);
    if (v->poll >= 0)
        close(v->poll);
}

static const struct kind ticker = {
    .prepare = start_ticking, .step = tick, .cleanup = stop_ticking, .sleeps = true};

static const struct kind *const kinds[] = {
    [VICTIM_SPINNER] = &spinner, [VICTIM_FAULTER] = &faulter, [VICTIM_TICKER] = &ticker};

/* The caller stays where it is; 0 or an errno. */
static int pin(struct victim *v, enum place place, pthread_attr_t *how) {
    cpu_set_t one;
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof v->callers, &v->callers) < 0)
        return errno;
    size_t own = (size_t)here, cpu = own;
    if (place == PLACE_AWAY)
        for (cpu = 0; cpu < CPU_SETSIZE && (cpu == own || !CPU_ISSET(cpu, &v->callers)); cpu++)
            continue;
    if (cpu == CPU_SETSIZE)
        return ENODEV;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    int rc = pthread_attr_setaffinity_np(how, sizeof one, &one);
    CPU_ZERO(&one);
    CPU_SET(own, &one);
    if (rc == 0 && sched_setaffinity(0, sizeof one, &one) < 0)
        rc = errno;
    v->is_pinned = rc == 0;
    return rc;
}

/* Once its thread is no more, or never was. */
static void forget(struct victim *v) {
    if (v->is_pinned)
        sched_setaffinity(0, sizeof v->callers, &v->callers);
    if (v->kick >= 0)
        close(v->kick);
    free(v);
}

static int start(struct victim *v, enum place place) {
    pthread_attr_t how;
    int rc = pthread_attr_init(&how);
    if (rc != 0)
        return rc;
    if (place != PLACE_FREE)
        rc = pin(v, place, &how);
    if (rc == 0 && v->kind->sleeps && (v->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        rc = errno;
    if (rc == 0)
        rc = pthread_create(&v->thread, &how, live, v);
    pthread_attr_destroy(&how);
    if (rc != 0)
        return rc;
    wait_while(&v->state, STARTING);
    if (v->problem)
        pthread_join(v->thread, NULL);
    return -v->problem;
}

struct victim *victim_make(enum victim_kind kind, enum place place) {
    struct victim *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->kind = kinds[kind];
    v->schedstat = v->timer = v->kick = v->poll = -1;
    int rc = start(v, place);
    if (rc == 0)
        return v;
    forget(v);
    errno = rc;
    return NULL;
}

static void kick(const struct victim *v) {
    if (v->kick >= 0)
        eventfd_write(v->kick, 1);
}

int64_t victim_due(const struct victim *v, int64_t from) {
    if (!v->kind->sleeps || from <= v->first)
        return v->kind->sleeps ? v->first : from;
    return v->first + (from - v->first + TICK_NS - 1) / TICK_NS * TICK_NS;
}

int64_t victim_aim(const struct victim *v, int64_t into) {
    return victim_due(v, now_ns() + into) - into;
}

void victim_open(struct victim *v) {
    v->longest = (struct stall){0};
    v->opened = now_ns();
    atomic_store(&v->state, OPEN);
}

struct stall victim_close(struct victim *v, int64_t closed) {
    v->closed = closed;
    atomic_store(&v->state, CLOSING);
    kick(v);
    wait_while(&v->state, CLOSING);
    return v->longest;
}

void victim_end(struct victim *v) {
    if (!v)
        return;
    atomic_store(&v->state, OVER);
    kick(v);
    pthread_join(v->thread, NULL);
    forget(v);
}
