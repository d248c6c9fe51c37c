/* The request as data: what the setters build and the child reads. Private. */
#ifndef FL_COMMAND_H
#define FL_COMMAND_H

#include <stdatomic.h>

#include "descriptor.h"
#include "forkless.h"

struct fl_strings; /* memory that strings are copied into; they never move */

struct forkless_command {
    const char *program;
    char **argv; /* ended by NULL at all times, as is envp */
    size_t argc, argv_room;
    char **envp;
    struct fl_descriptors descriptors;
    struct fl_strings *strings;

    int code; /* the first error of a setter, */
    const char *setter;
    int index;

    /* The owner's reference and one of each child that may still read the command. */
    atomic_uint references;
    atomic_bool used;
};

/* Fixes the command at its first use. -ENOMEM. */
int fl_command_use(forkless_command *command);
void fl_command_take(forkless_command *command);
void fl_command_drop(forkless_command *command);

#endif
