/* The command line of forkless-bench. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "choose.h"

struct options {
    const char *output, *resume;
    uint64_t rounds, seed, deadline_s; /* rounds 0: the matrix's; deadline 0: the plan's */
    bool has_seed, list, plan;
    struct choice choice; /* without a name: quick */
};

/* Ends the process where what is asked for cannot be meant, or is only to be explained. */
void options_read(struct options *, int argc, char **argv);

#endif
