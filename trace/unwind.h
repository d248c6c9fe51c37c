/* Who called whom, from a copy of a thread's registers and of the top of its stack. */
#ifndef UNWIND_H
#define UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "registers.h"
#include "symbols.h"

struct stack {
    uint64_t registers[REGISTERS];
    const void *bytes; /* of the stack, from its pointer on */
    size_t size;
};

/* The address of each call, innermost first: by what the files say about their frames, and by frame
 * pointers where they say nothing. Fewer than there are where the copy ends. */
size_t unwind(struct symbols *, const struct stack *, uint64_t *addresses, size_t most);

#endif
