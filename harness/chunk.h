/* A chunk of samples of one cell, with all that the cell has beside the ballast made for it and
 * taken away after it. */
#ifndef CHUNK_H
#define CHUNK_H

#include <limits.h>

#include "hogs.h"
#include "sample.h"

struct measured {
    struct cell cell; /* its target is a path here */
    bool has_stamps;
    struct sample *samples; /* room for all of a round */
    unsigned taken;
    bool failed;
};

/* What the chunks of a block have in common. */
struct measuring {
    int to_stamps, to_nothing; /* what the targets' standard output is */
    char programs[PATH_MAX];   /* the folder of those that strategies bring along */
    struct sampler sampler;    /* after a chunk that failed its turn says why */
    struct measured *current;
    struct hogs hogs;  /* that run while chunks are taken */
    char spoilt[128];  /* why no cell finds the parent as it is to be any more, or "" */
    unsigned discards; /* spawns that are still to be made before the next sample */
};

/* Takes the next samples of the cell, or finds that it failed, also by what it left behind. */
void chunk_take(struct measuring *, struct measured *);

#endif
