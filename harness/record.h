/* The results file: one JSON object a line, append only, each line in one write. results/README.md
 * says what is in it. */
#ifndef RECORD_H
#define RECORD_H

#include <jansson.h>

struct record {
    int fd;
};

/* Makes the file, which must not be there yet. 0 or -errno. */
int record_open(struct record *, const char *path);

/* Appends one line and drops the reference. 0 or -errno; after an error the file is a valid shorter
 * run. */
int record_append(struct record *, json_t *line);

#endif
