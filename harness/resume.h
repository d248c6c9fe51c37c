/* A run that was broken off, as its file tells it. */
#ifndef RESUME_H
#define RESUME_H

#include <jansson.h>
#include <sys/types.h>

#include "matrix.h"

struct past {
    json_t *line; /* the first; the matrix keeps its texts in it */
    struct matrix matrix;
    unsigned rounds;
    uint64_t seed;
    bool *done;      /* [round * matrix.count + cell], for ROUNDS_MAX rounds */
    unsigned failed; /* measurements that failed or timed out */
    bool ended;      /* its last line is an end, and it was not interrupted */
    off_t size;      /* of its whole lines, in bytes */
};

/* Reads from the beginning of an open file. False with a sentence in `why`. past_clear() ends it in
 * either case. */
bool past_read(struct past *, int fd, char *why, size_t size);
void past_clear(struct past *);

/* How many measurements it lacks to so many rounds. */
size_t past_lacks(const struct past *, unsigned rounds);

#endif
