/* The BPF programs that see the phases of each creation, at work. */
#ifndef PHASES_PROBE_H
#define PHASES_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

#include "phases.h"

struct phases_probe;

/* Loads them, and attaches them. OK, or a complaint. `whole_host`: all but the caller's own; else
 * what is followed or launched (see probe.h). */
int phases_open(struct phases_probe **, bool whole_host, int (*take)(void *, void *record, size_t),
                void *argument);
void phases_close(struct phases_probe *);

bool phases_follow(void *probe, pid_t pid);
void phases_launch(struct phases_probe *, bool begin);

/* Gives all records to `take`; to be called every 50 ms, since nothing wakes who waits for them. 0
 * or what it gave back. */
int phases_take(struct phases_probe *);
/* What is known by now of a child that has not been reaped. False: nothing; also where the caller
 * is in a pid namespace of its own. */
bool phases_look_up(const struct phases_probe *, pid_t child, struct phases_record *);
struct phases_lost phases_lost(const struct phases_probe *);

#endif
