/* What the child's descriptors are, as it was asked for. Private. */
#ifndef FL_DESCRIPTOR_H
#define FL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum fl_source_kind { FL_FROM, FL_FILE, FL_MEMORY, FL_PIPE, FL_SAME };

struct fl_source {
    enum fl_source_kind kind;
    int to;
    int from;         /* the caller's descriptor; of FL_SAME the child's */
    const char *path; /* FL_FILE */
    int flags;        /* FL_FILE; of FL_PIPE the child's end */
    mode_t mode;
    const void *data; /* FL_MEMORY */
    size_t size;
};

struct fl_descriptors {
    struct fl_source *sources; /* by `to`, ascending, each once */
    size_t count, room, pipes;
    bool inherits; /* nothing is closed */
};

/* The source of this descriptor, or `count`. */
size_t fl_descriptors_find(const struct fl_descriptors *, int to);
/* -EBADF with *index: a `same` of a descriptor that nothing sets. */
int fl_descriptors_check(const struct fl_descriptors *, int *index);
void fl_descriptors_free(struct fl_descriptors *);

#endif
