/* What a command asks for beyond the defaults, one thing for each cell; of the library's strategies
 * alone. */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H

#include <forkless.h>
#include <stdbool.h>
#include <stddef.h>

struct attribute {
    const char *name;
    /* 0, a descriptor that has to be open as long as children are started, or -errno; NULL: nothing
     * to ask for. */
    int (*set)(forkless_command *);
    /* NULL, or a sentence: what this host or user has not; NULL: nothing. */
    const char *(*lacks)(void);
    bool holds;  /* the caller of start too: its children are made by clone3_vfork */
    bool helped; /* by forkless-exec */
    bool input;  /* the child has another standard input than its parent */
    bool keeps;  /* the caller has a descriptor more as long as the child is not waited for */
    /* What the strategy `server` sends, which knows these two alone: the variables (NULL: the
     * caller's own) and stderr once more, as descriptor 3. */
    char *const *(*environment)(void);
    bool hands_down;
};

/* Its first is `none`. Whatever names attributes takes them from here. */
extern const struct attribute attributes[];
extern const size_t attribute_count;

/* NULL when there is none of this name. */
const struct attribute *attribute_find(const char *name);

/* The name that comes nearest, or NULL. */
const char *attribute_similar(const char *name);

#endif
