/* Lines from a descriptor that is polled. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines {
    int fd;
    char *bytes;
    size_t used, room;
};

/* Reads what is there, once. False at end of file or on an error. */
bool lines_read(struct lines *);
/* The next whole line without its newline, to be freed, or NULL. */
char *lines_next(struct lines *);

#endif
