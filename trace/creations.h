/* The creations that are not complete yet: what the kernel tells of one comes in two records, in
 * either order. */
#ifndef CREATIONS_H
#define CREATIONS_H

#include <stdbool.h>

#include "creation.h"

/* Who wants to know of them. */
struct audience {
    /* Once for each, when it is complete, its child has run on for a second, or the trace ends;
     * false: it is none that counts, and not settled. */
    bool (*show)(void *, const struct creation *);
    /* Once for each, after that, with the last that is known: its child may have exec'd after all.
     */
    void (*settle)(void *, const struct creation *);
    /* Looks what is known of the phases of one that is to be shown before they are over. NULL: they
     * are not asked for. */
    void (*look)(void *, struct creation *);
    void *argument;
};

struct creations;

/* NULL: no memory. */
struct creations *creations_new(const struct audience *);
void creations_free(struct creations *);

/* A creation's own record; `trail` is who called it, or NULL and why. 0 or -errno. */
int creations_created(struct creations *, const struct spawn_created *, const struct trail *,
                      const char *no_trail);
/* What its child did. 0 or -errno. */
int creations_then(struct creations *, const struct spawn_then *);
/* When its phases are over. 0 or -errno. */
int creations_phases(struct creations *, const struct phases_record *);
/* Shows those whose children have run on for a second by then; `lost`: what they did may be among
 * what was lost. How many are not shown yet. */
size_t creations_expire(struct creations *, int64_t now, bool lost);
/* All that are left, with what is known. */
void creations_end(struct creations *);

#endif
