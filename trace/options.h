/* What forkless-trace was asked for. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct options {
    pid_t pid;      /* 0: none */
    char **command; /* NULL: none */
    bool summary, forbid, phases, json;
    uint64_t longer_than, duration, count; /* ns, ns; 0: no end */
    const char *output;                    /* NULL: standard output */
};

/* Ends the program where they are wrong. */
void options_read(struct options *, int argc, char **argv);

#endif
