/* The callers' stacks by names, at a cost that lets their programs be. */
#ifndef CALLERS_H
#define CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe.h"
#include "trail.h"

struct callers;

/* NULL: no memory. `all`: also of programs that end before they can be read, for a price: the
 * kernel tells of each file that any program maps. The probe is told which stacks are known, and
 * has to live longer. */
struct callers *callers_new(struct probe *, bool all);
void callers_free(struct callers *);

/* Who made this creation; NULL: that cannot be said, and `why` is set. */
const struct trail *callers_trail(struct callers *, const struct spawn_created *, const char **why);

/* Takes in what programs have mapped until then, which may be lost else: before its trails are
 * asked for in the order of time. CLOCK_MONOTONIC, ns. */
void callers_advance(struct callers *, uint64_t until);

#endif
