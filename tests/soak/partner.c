#include "partner.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "worker.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first;
    bool over;
    pthread_t threads[64];
    int count;
} partners = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void until_ended(struct job *j, int signal) {
    int rc;
    while ((rc = forkless_kill(j->child, signal, FORKLESS_CHILD)) == 0 &&
           forkless_poll(j->child) != FORKLESS_ENDED)
        nap_us(200);
    if (rc != 0 && rc != -ESRCH)
        wrong(NULL, "kill of a shared handle: %d", rc);
}

static void work(struct job *j) {
    if (j->work == PARTNER_KILLS)
        until_ended(j, SIGKILL);
    if (j->work == PARTNER_ASKS) {
        if (forkless_pid(j->child) <= 0)
            wrong(NULL, "a shared handle has no pid");
        forkless_pidfd(j->child);
        until_ended(j, 0);
    }
    j->rc = forkless_wait(j->child, FORKLESS_NEVER, &j->status, &j->error);
}

static void *partner(void *unused) {
    void *volatile block = malloc(1); /* and with it what malloc needs for a thread */
    free(block);
    for (;;) {
        pthread_mutex_lock(&partners.lock);
        while (!partners.first && !partners.over)
            pthread_cond_wait(&partners.changed, &partners.lock);
        struct job *j = partners.first;
        if (j)
            partners.first = j->next;
        pthread_mutex_unlock(&partners.lock);
        if (!j)
            return unused;
        work(j);
        sem_post(&j->done);
    }
}

void partners_start(int count) {
    partners.count = count;
    for (int i = 0; i < count; i++)
        MUST(pthread_create(&partners.threads[i], NULL, partner, NULL) == 0);
}

void partners_end(void) {
    pthread_mutex_lock(&partners.lock);
    partners.over = true;
    pthread_cond_broadcast(&partners.changed);
    pthread_mutex_unlock(&partners.lock);
    for (int i = 0; i < partners.count; i++)
        MUST(pthread_join(partners.threads[i], NULL) == 0);
}

void partner_begin(struct job *j) {
    sem_init(&j->done, 0, 0);
    pthread_mutex_lock(&partners.lock);
    j->next = partners.first;
    partners.first = j;
    pthread_cond_signal(&partners.changed);
    pthread_mutex_unlock(&partners.lock);
}

void partner_end(struct job *j) {
    while (sem_wait(&j->done) < 0)
        ;
    sem_destroy(&j->done);
}
