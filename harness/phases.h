/* What forkless-phases saw of a block, by cell. */
#ifndef PHASES_H
#define PHASES_H

#include <jansson.h>
#include <stdbool.h>

/* Of the lines of a tracer, those that belong to the samples of a cell, of which the block said
 * `said`: an object of arrays, the intervals of every child that was seen, in ns. Where each sample
 * is of one child and all were seen, also what the caller's own clock has beyond the kernel's, by
 * sample: beyond_call, beyond_ready, beyond_total; but not of children that are born `elsewhere`,
 * whose creation is not within the caller's call. NULL: there are none. */
json_t *phases_of_cell(const json_t *traced, const json_t *said, bool elsewhere);

/* How many events of children the tracer lost, by its last word; -1: it had none to say it. */
json_int_t phases_count_lost(const json_t *traced);

#endif
