/*
 * Random commands from many threads, some of whose children are killed or stopped, in rounds of at
 * most a minute; after each, what is lost is counted against what there was after the first.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "figures.h"
#include "gate.h"
#include "lost.h"
#include "operations.h"
#include "partner.h"
#include "trouble.h"

static const char usage[] =
    "usage: soak [--seconds N] [--seed N] [--threads N] [--helper FORKLESS-EXEC] ACTOR\n";

static struct {
    long seconds, threads;
    uint64_t seed;
    const char *helper, *actor;
} options = {.seconds = 15, .threads = 64};

static struct gate workers_gate = GATE_INITIALIZER, trouble_gate = GATE_INITIALIZER;
static struct worker *workers;
static int worker_count;
static struct trouble trouble;
static pthread_t troubles[TROUBLES];
static pthread_barrier_t all_are_there;

/* ---- threads ---- */

static void operate(struct worker *w) {
    worker_begin(w, chance(&w->random, 50));
    if (chance(&w->random, 50))
        operation_run(w);
    else
        operation_children(w);
    worker_end(w);
}

static void *work(void *worker) {
    struct worker *w = worker;
    w->id = gettid();
    pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
    worker_begin(w, false);
    operation_fill(w, &all_are_there);
    worker_end(w);
    while (gate_pass(&workers_gate))
        operate(w);
    return NULL;
}

/* Each has a mask of its own, but for what must not stay pending. */
static void choose_mask(struct worker *w) {
    static const int some[] = {SIGHUP, SIGUSR2, SIGWINCH, SIGALRM};
    sigemptyset(&w->mask);
    for (int i = 0; i < 4; i++)
        if (chance(&w->random, 30))
            sigaddset(&w->mask, some[i]);
}

static void start_workers(void) {
    MUST(pthread_barrier_init(&all_are_there, NULL, (unsigned)worker_count) == 0);
    for (int i = 0; i < worker_count; i++) {
        struct worker *w = &workers[i];
        w->number = i;
        w->threads = (int)options.threads;
        w->seed = options.seed;
        w->random.state = options.seed * 1000003 + (uint64_t)i;
        pthread_mutex_init(&w->lock, NULL);
        choose_mask(w);
        MUST(pthread_create(&w->thread, NULL, work, w) == 0);
    }
}

static void start_troubles(void) {
    static void *(*const bodies[TROUBLES])(void *) = {trouble_kill, trouble_fork, trouble_allocate};
    trouble = (struct trouble){&trouble_gate, workers, worker_count, ~options.seed};
    for (int i = 0; i < TROUBLES; i++)
        MUST(pthread_create(&troubles[i], NULL, bodies[i], &trouble) == 0);
}

static void join_all(void) {
    gate_end(&workers_gate);
    for (int i = 0; i < worker_count; i++)
        MUST(pthread_join(workers[i].thread, NULL) == 0);
    gate_end(&trouble_gate);
    for (int i = 0; i < TROUBLES; i++)
        MUST(pthread_join(troubles[i], NULL) == 0);
    partners_end();
}

/* ---- the first thread: it reaps who comes to us, and looks whether all go on ---- */

/* Short of the test's own time; a long run has to live through a machine that stands still. */
static int64_t patience_s(void) {
    return options.seconds < 60 ? 25 : 120;
}

static void reap_strays(void) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL | __WNOTHREAD) == 0 && info.si_pid) {
        count(STRAYS, 1);
        info.si_pid = 0;
    }
}

static void watch(void) {
    int64_t now = now_ns();
    for (int i = 0; i < worker_count; i++) {
        int64_t since = workers[i].since;
        if (since && now - since > patience_s() * INT64_C(1000000000)) {
            children_print();
            wrong(&workers[i], "has not ended for %ld s", patience_s());
        }
    }
}

static void attend(void) {
    reap_strays();
    watch();
    nap_us(1000);
}

static void attend_until(int64_t end) {
    while (now_ns() < end)
        attend();
}

/* Workers first: whom the killer has stopped they may wait for. */
static void bring_to_rest(void) {
    gate_close(&workers_gate);
    while (gate_waiting(&workers_gate) < worker_count)
        attend();
    gate_close(&trouble_gate);
    while (gate_waiting(&trouble_gate) < TROUBLES)
        attend();
    MUST(forkless_quiesce(FORKLESS_NEVER) == 0);
    for (int64_t end = now_ns() + 2000000000; now_ns() < end; nap_us(1000)) {
        siginfo_t info;
        reap_strays();
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0) {
            MUST(forkless_quiesce(FORKLESS_NEVER) == 0); /* what was given up is then let go of */
            return;
        }
    }
}

static void go_on(void) {
    gate_open(&trouble_gate);
    gate_open(&workers_gate);
}

/* ---- the whole ---- */

/* The first round fills all pools. */
static void warm_up(int64_t ns, struct inventory *before) {
    start_workers();
    start_troubles();
    while (filled < worker_count)
        attend();
    attend_until(now_ns() + ns);
    bring_to_rest();
    inventory_take(before);
}

static bool soak(void) {
    const int64_t second = 1000000000;
    struct inventory before, after;
    int64_t start = now_ns(), end = start + options.seconds * second;
    int64_t first = options.seconds * second / 4;
    bool ok = true;
    warm_up(first < 30 * second ? first : 30 * second, &before);
    do {
        int64_t round = now_ns() + 60 * second;
        go_on();
        attend_until(round < end ? round : end);
        bring_to_rest();
        inventory_take(&after);
        printf("seconds %.1f\n", (double)(now_ns() - start) / 1e9);
        figures_print();
        ok = inventory_compare(&before, &after);
        fflush(stdout);
    } while (ok && now_ns() < end);
    join_all();
    return ok;
}

static void read_options(int argc, char **argv) {
    static const struct option known[] = {{"seconds", required_argument, NULL, 's'},
                                          {"seed", required_argument, NULL, 'e'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"helper", required_argument, NULL, 'h'},
                                          {0}};
    bool bad = getrandom(&options.seed, 4, 0) != 4;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        char *end = "";
        if (c == 's')
            options.seconds = strtol(optarg, &end, 10);
        else if (c == 'e')
            options.seed = strtoul(optarg, &end, 10);
        else if (c == 't')
            options.threads = strtol(optarg, &end, 10);
        else if (c == 'h')
            options.helper = optarg;
        else
            bad = true;
        bad |= *end != '\0';
    }
    bad |=
        optind != argc - 1 || options.seconds < 4 || options.threads < 4 || options.threads > 512;
    if (bad) {
        fputs(usage, stderr);
        exit(2);
    }
    options.actor = argv[optind];
}

static void foreign_handler(int signal) {
    static pid_t own;
    if (own == 0)
        own = getpid();
    if (getpid() != own)
        wrong(NULL, "a handler for signal %d ran in a child", signal);
}

static void prepare(void) {
    const char *reason;
    struct rlimit files;
    bool users;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %lu\nthreads %ld\n", options.seed, options.threads);
    MUST(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    MUST(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0);
    MUST(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max < 20000 ? files.rlim_max : 20000;
    MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
    signal(SIGWINCH, SIG_IGN);
    signal(SIGUSR1, foreign_handler);
    foreign_handler(SIGUSR1);
    if (options.helper)
        MUST(forkless_helper_path(options.helper) == 0);
    reason = plan_prepare(options.actor, &users);
    if (!users)
        fprintf(stderr, "soak: unsupported: children of other users: %s\n", reason);
    worker_count = (int)options.threads * 3 / 4;
    workers = calloc((size_t)worker_count, sizeof *workers);
    MUST(workers);
    for (int i = 0; i < worker_count; i++)
        workers[i].cgroup = -1;
    if (!cgroups_make(workers, worker_count, &reason))
        fprintf(stderr, "soak: unsupported: children in cgroups: %s\n", reason);
    partners_start((int)options.threads - worker_count);
}

/* So that malloc keeps exact books: no caches of the threads, one arena, which can be trimmed. */
static void keep_books(char **argv) {
    if (getenv("GLIBC_TUNABLES"))
        return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
    execv("/proc/self/exe", argv);
    wrong(NULL, "cannot execute itself: %m");
}

int main(int argc, char **argv) {
    keep_books(argv);
    read_options(argc, argv);
    prepare();
    bool ok = soak();
    cgroups_remove();
    unlink(shared.no_interpreter);
    unlink(shared.no_format);
    rmdir(shared.folder);
    free(workers);
    return ok ? 0 : 1;
}
