/*
 * forkless-phases PID: the phases of each creation by one process and its descendants, for
 * forkless-bench. A JSON line when it looks on, and nothing more until it is ended by a signal:
 * then a line for each creation, and one of what was lost. Who is traced shares its CPUs with us.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "intervals.h"
#include "kernel.h"
#include "phases_probe.h"
#include "program.h"

struct list {
    struct phases_record *records;
    size_t count, room;
};

static int keep(void *list, void *record, size_t size) {
    struct list *l = list;
    (void)size;
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 4096;
        struct phases_record *records = reallocarray(l->records, room, sizeof *records);
        if (!records)
            return -ENOMEM;
        l->records = records;
        l->room = room;
    }
    memcpy(&l->records[l->count++], record, sizeof *l->records);
    return 0;
}

static void print(const struct phases_record *r) {
    int64_t ns[INTERVALS];
    intervals_of(r, ns);
    printf("{\"asked\":%" PRIu64, (uint64_t)r->when[MOMENT_ASKED]);
    for (size_t i = 0; i < INTERVALS; i++)
        if (ns[i] != INTERVAL_UNKNOWN)
            printf(",\"%s\":%" PRId64, interval_names[i], ns[i]);
    puts("}");
}

/* The ring holds what comes in a second, many times over. */
static int watch(struct phases_probe *probe, const sigset_t *ends, const struct list *list) {
    const struct timespec second = {.tv_sec = 1};
    int rc = 0;
    puts("{\"begin\":true}");
    fflush(stdout);
    while (rc == 0 && sigtimedwait(ends, NULL, &second) < 0)
        rc = phases_take(probe);
    if (rc == 0)
        rc = phases_take(probe);
    if (rc < 0)
        return complain(INTERNAL, "no memory");
    for (size_t i = 0; i < list->count; i++)
        print(&list->records[i]);
    struct phases_lost lost = phases_lost(probe);
    printf("{\"lost\":%" PRIu64 "}\n", (uint64_t)(lost.records + lost.entries));
    return finish_output(OK);
}

int main(int argc, char **argv) {
    struct list list = {0};
    struct phases_probe *probe = NULL;
    sigset_t ends;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* not longer than its runner */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int pid = argc == 2 ? atoi(argv[1]) : 0;
    if (pid <= 0)
        return complain(USAGE, "the number of a process is needed");
    int code = kernel_check();
    if (code == OK)
        code = phases_open(&probe, false, keep, &list);
    if (code == OK && !phases_follow(probe, pid))
        code = complain(INTERNAL, "process %d cannot be followed: %s", pid, strerror(errno));
    if (code == OK)
        code = watch(probe, &ends, &list);
    phases_close(probe);
    free(list.records);
    return code;
}
