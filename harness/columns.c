#include "columns.h"

static bool has_ready(const struct cell *cell, bool has_stamps) {
    return has_stamps && cell->strategy->body;
}

static bool has_longest(const struct cell *cell, bool has_stamps) {
    (void)has_stamps;
    return cell->commands > 1;
}

static bool has_victim(const struct cell *cell, bool has_stamps) {
    (void)has_stamps;
    return cell->victim;
}

static bool has_after(const struct cell *cell, bool has_stamps) {
    (void)has_stamps;
    return cell->after != AFTER_NONE;
}

static bool has_after_of_child(const struct cell *cell, bool has_stamps) {
    return has_after(cell, has_stamps) && cell->strategy->body;
}

static bool has_after_of_living(const struct cell *cell, bool has_stamps) {
    (void)has_stamps;
    return cell->after == AFTER_LIVING;
}

#define COLUMN(name, field, has)                                                                   \
    { name, offsetof(struct sample, field), has }

const struct column columns[] = {
    COLUMN("call", call, NULL),
    COLUMN("ready", ready, has_ready),
    COLUMN("total", total, NULL),
    COLUMN("cpu", cpu, NULL),
    COLUMN("longest", longest, has_longest),
    COLUMN("stall", stall.ns, has_victim),
    COLUMN("stall_busy", stall.busy, has_victim),
    COLUMN("stall_waiting", stall.waiting, has_victim),
    COLUMN("stall_blocked", stall.blocked, has_victim),
    COLUMN("baseline", baseline, has_victim),
    COLUMN("after_time", after.time, has_after),
    COLUMN("after_faults", after.faults, has_after),
    COLUMN("teardown", after.teardown, has_after_of_child),
    COLUMN("switches", after.switches, has_after_of_child),
    COLUMN("preemptions", after.preemptions, has_after_of_child),
    COLUMN("page_tables", after.page_tables, has_after_of_living),
    COLUMN("peak", after.peak, has_after_of_living),
};
const size_t column_count = sizeof columns / sizeof *columns;
