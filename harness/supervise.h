/* One block, from outside: started through libforkless, given a deadline, asked what it is, ended
 * with all its children. */
#ifndef SUPERVISE_H
#define SUPERVISE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct supervision {
    json_t *order; /* as block.h has it */
    unsigned deadline_s;
    int signals; /* readable when somebody wants to end the run */
    void (*on_cell)(void *context, json_t *line);
    void *context;

    /* What came of it. */
    const char
        *state; /* NULL: all well; else the state of the cells that it did not report, and why */
    char reason[256];
    uint64_t resident;
    bool interrupted;
};

/* Returns when the block and its children are gone. */
void supervise(struct supervision *);

#endif
