#include "gate.h"

bool gate_pass(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    g->waiting++;
    while (g->closed && !g->over)
        pthread_cond_wait(&g->changed, &g->lock);
    g->waiting--;
    bool over = g->over;
    pthread_mutex_unlock(&g->lock);
    return !over;
}

static void set(struct gate *g, bool closed, bool over) {
    pthread_mutex_lock(&g->lock);
    g->closed = closed;
    g->over = over;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void gate_close(struct gate *g) {
    set(g, true, false);
}

void gate_open(struct gate *g) {
    set(g, false, false);
}

void gate_end(struct gate *g) {
    set(g, false, true);
}

int gate_waiting(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    int n = g->waiting;
    pthread_mutex_unlock(&g->lock);
    return n;
}
