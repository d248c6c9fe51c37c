#include "figures.h"

#include "../cases/interval_names.h"

#include <math.h>
#include <stdio.h>

const char *const figure_names[FIGURES] = {
    "call",        "ready",         "total",         "cpu",         "longest",    "stall",
    "stall_busy",  "stall_waiting", "stall_blocked", "baseline",    "after_time", "after_faults",
    "teardown",    "switches",      "preemptions",   "page_tables", "peak",       INTERVAL_NAMES,
    "beyond_call", "beyond_ready",  "beyond_total"};
_Static_assert(BEYOND_CALL - CREATE == sizeof((const char *[]){INTERVAL_NAMES}) / sizeof(char *),
               "the intervals are in the order of their names");

enum quantity { TIME, COUNT, BYTES };

static enum quantity quantity_of(enum figure figure) {
    switch (figure) {
    case AFTER_FAULTS:
    case SWITCHES:
    case PREEMPTIONS:
        return COUNT;
    case PAGE_TABLES:
    case PEAK:
        return BYTES;
    default:
        return TIME;
    }
}

const char *figure_suffix(enum figure figure) {
    static const char *const suffixes[] = {[TIME] = "_ns", [COUNT] = "", [BYTES] = "_bytes"};
    return suffixes[quantity_of(figure)];
}

struct label label_figure(enum figure figure, double amount) {
    struct label label = {"-"};
    if (isnan(amount))
        return label;
    switch (quantity_of(figure)) {
    case COUNT:
        snprintf(label.text, sizeof label.text, "%.*f", amount == floor(amount) ? 0 : 1, amount);
        return label;
    case BYTES:
        return label_about(amount);
    default:
        return label_time(amount, unit_for(fabs(amount)));
    }
}
