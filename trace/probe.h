/* The BPF programs of forkless-trace, at work. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spawns.h"

struct probe;

/* Loads them, and attaches them: from here on records come. OK, or a complaint. `whole_host`: all
 * but the caller's own; else what probe_follow() and probe_launch() name. */
int probe_open(struct probe **, bool whole_host, uint64_t longer_than,
               int (*take)(void *, void *record, size_t size), void *argument);
void probe_close(struct probe *);

/* Follows a process, and what descends from it from now on. False: there is no room. */
bool probe_follow(void *probe, pid_t pid);
/* Between the two, the caller's next child is followed. */
void probe_launch(struct probe *, bool begin);

/* From now on a stack like that brings its trail and is not copied, if there is room. */
void probe_know(struct probe *, const struct known_key *, const struct known_stack *);
void probe_forget(struct probe *, const struct known_key *);

/* Readable when there are records, most times; they are to be taken every 50 ms anyway. */
int probe_descriptor(const struct probe *);
/* Gives them all to `take`. 0 or what it gave back. */
int probe_take(struct probe *);
/* Whether a creation, or what became of one, may be missing. */
bool probe_is_lossy(const struct probe *);
struct spawn_lost probe_lost(const struct probe *);

#endif
