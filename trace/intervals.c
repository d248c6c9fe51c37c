#include "intervals.h"

#include "../cases/interval_names.h"

#include <stdbool.h>

const char *const interval_names[INTERVALS] = {INTERVAL_NAMES, "call", "ready", "total"};

static int64_t between(const struct phases_record *r, enum moment from, enum moment to) {
    return r->when[from] && r->when[to] ? (int64_t)(r->when[to] - r->when[from]) : INTERVAL_UNKNOWN;
}

void intervals_of(const struct phases_record *r, int64_t out[INTERVALS]) {
    enum moment runs = r->when[MOMENT_EXECED] ? MOMENT_READY : MOMENT_BEGAN;
    bool execed = r->when[MOMENT_EXECED] != 0;
    out[INTERVAL_CREATE] = between(r, MOMENT_ASKED, MOMENT_CREATED);
    out[INTERVAL_WAKE] = between(r, MOMENT_CREATED, MOMENT_RAN);
    out[INTERVAL_ENTER] = between(r, MOMENT_RAN, MOMENT_BEGAN);
    /* A child whose exec failed goes on to something else. */
    out[INTERVAL_SET_UP] = execed ? between(r, MOMENT_BEGAN, MOMENT_EXEC_CALLED) : INTERVAL_UNKNOWN;
    out[INTERVAL_EXEC] = between(r, MOMENT_EXEC_CALLED, MOMENT_EXECED);
    out[INTERVAL_LOAD] = between(r, MOMENT_EXECED, MOMENT_READY);
    out[INTERVAL_RUN] = between(r, runs, MOMENT_EXITED);
    out[INTERVAL_REAP] = between(r, MOMENT_EXITED, MOMENT_REAPED);
    out[INTERVAL_WAITED] = r->when[MOMENT_RAN] ? (int64_t)r->waited : INTERVAL_UNKNOWN;
    out[INTERVAL_CALL] = between(r, MOMENT_ASKED, MOMENT_RETURNED);
    out[INTERVAL_READY] = between(r, MOMENT_ASKED, MOMENT_READY);
    out[INTERVAL_TOTAL] = between(r, MOMENT_ASKED, MOMENT_REAPED);
}
