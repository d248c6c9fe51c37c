#include "columns.h"

static bool has_ready(const struct cell *cell, bool has_stamps) {
    return has_stamps && cell->strategy->body;
}

static bool has_longest(const struct cell *cell, bool has_stamps) {
    (void)has_stamps;
    return cell->commands > 1;
}

#define COLUMN(name, field, has)                                                                   \
    { name, offsetof(struct sample, field), has }

const struct column columns[] = {
    COLUMN("call", call, NULL),
    COLUMN("ready", ready, has_ready),
    COLUMN("total", total, NULL),
    COLUMN("cpu", cpu, NULL),
    COLUMN("longest", longest, has_longest),
};
const size_t column_count = sizeof columns / sizeof *columns;
