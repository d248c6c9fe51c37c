/* Copies of stacks, counted by what they mean. */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"
#include "unwind.h"

struct stacks;

struct stacks_entry {
    char *calls; /* "program;main;...;innermost", with ";[kernel]" where the kernel wrote for it */
    uint64_t count;
};

struct stacks *stacks_new(void);
void stacks_free(struct stacks *);

/* `symbols` may be NULL. False: no memory. */
bool stacks_add(struct stacks *, const char *program, struct symbols *, struct stack *,
                bool kernel);
/* Those that were seen most come first; how many. Nothing can be added after it. */
size_t stacks_list(struct stacks *, const struct stacks_entry **);

#endif
