/* The arguments of a pack, which its commands share. Private. */
#ifndef FL_PACK_H
#define FL_PACK_H

#include <stdatomic.h>
#include <stddef.h>

/* As long as a child may still read them. */
struct fl_arguments {
    atomic_uint references;
    char *argument[]; /* and the strings behind them */
};

void fl_arguments_take(struct fl_arguments *);
void fl_arguments_drop(struct fl_arguments *); /* NULL is fine */

#endif
