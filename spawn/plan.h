/* From what was asked for to the calls that make it so. Private. */
#ifndef FL_PLAN_H
#define FL_PLAN_H

#include "command.h"

struct fl_map {
    int to, from;
    size_t readers; /* for the plan: maps that still have to read `to` */
};

/* The first map whose `to` is not below the one asked for, or `count`. */
size_t fl_map_place(const struct fl_map *maps, size_t count, int to);
/* Those of the command itself, by `to`: how many. `maps` has room for one of each source. */
size_t fl_maps_of(const struct fl_descriptors *, struct fl_map *maps);

/* NULL: no memory. */
struct fl_prepared *fl_plan(const forkless_command *);
void fl_plan_free(struct fl_prepared *);

/*
 * The calls that make the descriptors of one child: `maps`, by `to` in ascending order and each
 * once, stand for those of the command and its pipes. `program_fd`, unless it is -1, is executed.
 * `calls` has room for fl_plan_calls() of them.
 */
void fl_plan_descriptors(const forkless_command *, int program_fd, struct fl_map *maps,
                         size_t count, struct fl_calls *out, struct fl_call *calls);
size_t fl_plan_calls(const forkless_command *, size_t maps);

/* The first of `n` numbers above stderr of which none is a target: of these maps, or else. */
int fl_plan_gap(const forkless_command *, const struct fl_map *maps, size_t count, int n);

/* Whether a child may begin in the caller's table of descriptors. */
bool fl_plan_shares_table(const forkless_command *, const char *const *programs,
                          const struct fl_map *maps, size_t count);

#endif
