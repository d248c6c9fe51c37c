/* The results file: one JSON object a line, append only, each line in one write. results/README.md
 * says what is in it. */
#ifndef RECORD_H
#define RECORD_H

#include <jansson.h>
#include <sys/types.h>

struct record {
    int fd;
};

/* Makes the file, which must not be there yet, and locks it. 0 or -errno. */
int record_create(struct record *, const char *path);

/* Opens one that is there and locks it: -EWOULDBLOCK while another run has it. 0 or -errno. */
int record_reopen(struct record *, const char *path);

/* Takes away what stands after the first `size` bytes: a line that was cut off. 0 or -errno. */
int record_cut(struct record *, off_t size);

/* Appends one line and drops the reference. 0 or -errno; after an error the file is a valid shorter
 * run. */
int record_append(struct record *, json_t *line);

#endif
