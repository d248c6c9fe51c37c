/* Which descriptor of the child is which of the parent's, and the order of system calls that makes
 * it so. Private. */
#ifndef FL_DESCRIPTOR_H
#define FL_DESCRIPTOR_H

#include <stdatomic.h>
#include <stddef.h>

struct fl_map {
    int to, from;
};

enum fl_move_kind {
    FL_KEEP,    /* `to` stays open over exec */
    FL_MOVE,    /* `to` becomes `from` */
    FL_SAVE,    /* the spare becomes `from`; `to` is the map that needs it */
    FL_RESTORE, /* `to` becomes the spare */
};

struct fl_move {
    enum fl_move_kind kind;
    int to, from;
};

struct fl_moves {
    size_t count;
    struct fl_move move[];
};

struct fl_descriptors {
    struct fl_map *maps; /* by `to`, ascending */
    size_t count, room;
    _Atomic(struct fl_moves *) moves; /* made once, by whoever is first */
};

/* -EBADF, -EEXIST, -ENOMEM. */
int fl_descriptors_add(struct fl_descriptors *, int to, int from);
/* Makes `moves`, from any thread, unless they are there or nothing is mapped. -ENOMEM. */
int fl_descriptors_plan(struct fl_descriptors *);
void fl_descriptors_free(struct fl_descriptors *);

#endif
