#include "trouble.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "figures.h"
#include "plan.h"

/* ---- the killer ---- */

enum { STOPPED = 16 };

struct killer {
    struct random random;
    struct {
        pid_t pid;
        int64_t until;
    } stopped[STOPPED];
};

static void continue_some(struct killer *k, bool all) {
    int64_t now = now_ns();
    for (int i = 0; i < STOPPED; i++)
        if (k->stopped[i].pid && (all || k->stopped[i].until <= now)) {
            kill(k->stopped[i].pid, SIGCONT);
            k->stopped[i].pid = 0;
        }
}

/* Only as many as will surely go on. */
static bool note_stop(struct killer *k, pid_t pid) {
    for (int i = 0; i < STOPPED; i++)
        if (!k->stopped[i].pid) {
            k->stopped[i].pid = pid;
            k->stopped[i].until = now_ns() + below(&k->random, 8000) * INT64_C(1000);
            return true;
        }
    return false;
}

static void hit(struct killer *k, struct worker *w, pid_t pid) {
    static const struct {
        int signal;
        enum figure figure;
    } hits[] = {{SIGKILL, HIT_KILL}, {SIGTERM, HIT_TERM}, {SIGUSR1, HIT_USR1}, {SIGSTOP, HIT_STOP}};
    unsigned i = below(&k->random, 4);
    if (hits[i].signal == SIGSTOP && !note_stop(k, pid))
        return;
    w->hits |= UINT64_C(1) << (hits[i].signal - 1);
    if (kill(pid, hits[i].signal) == 0)
        count(hits[i].figure, 1);
}

/* Under the lock the operation cannot end, and so no other child of this thread be taken for one
 * of its own. */
static void look(struct killer *k, struct worker *w) {
    pid_t pids[64];
    pthread_mutex_lock(&w->lock);
    size_t n = w->exposed ? children_of(w->id, pids, 64) : 0;
    for (size_t i = 0; i < n; i++)
        if (chance(&k->random, 30))
            hit(k, w, pids[i]);
    pthread_mutex_unlock(&w->lock);
}

void *trouble_kill(void *trouble) {
    const struct trouble *t = trouble;
    struct killer k = {.random = {t->seed}};
    while (gate_pass(t->gate)) {
        for (int i = 0; i < 20; i++) {
            continue_some(&k, false);
            look(&k, &t->workers[below(&k.random, (unsigned)t->count)]);
            nap_us(below(&k.random, 500));
        }
        continue_some(&k, true);
    }
    return NULL;
}

/* ---- others ---- */

enum { NAMES = 50 };

void *trouble_fork(void *trouble) {
    const struct trouble *t = trouble;
    while (gate_pass(t->gate)) {
        pid_t pid = fork();
        MUST(pid >= 0);
        if (pid == 0)
            _exit(3);
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 3 << 8)
            wrong(NULL, "a forked child of our own ended with %#x", status);
        count(FORKS, 1);
        nap_us(5000);
    }
    return NULL;
}

static void set_and_unset(unsigned i) {
    char name[16];
    snprintf(name, sizeof name, "NOISE%u", i % NAMES);
    pthread_rwlock_wrlock(&environment_lock);
    setenv(name, "value", 1);
    unsetenv(name);
    pthread_rwlock_unlock(&environment_lock);
}

void *trouble_allocate(void *trouble) {
    const struct trouble *t = trouble;
    for (unsigned i = 0; i < NAMES; i++) /* libc keeps each for ever: before anything is counted */
        set_and_unset(i);
    for (unsigned i = 0; gate_pass(t->gate); i++) {
        void *blocks[16];
        for (size_t b = 0; b < 16; b++)
            blocks[b] = malloc((size_t)64 << (b % 12));
        set_and_unset(i);
        int fd = open("/dev/null", O_RDWR); /* not closed at exec */
        MUST(fd >= 0);
        nap_us(500);
        close(fd);
        for (size_t b = 0; b < 16; b++)
            free(blocks[b]);
    }
    return NULL;
}
