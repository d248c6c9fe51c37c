/* Who called whom, from a copy of a thread's registers and of the top of its stack. */
#ifndef UNWIND_H
#define UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "registers.h"
#include "symbols.h"

/* What an unwinding read of the stack: where all of it is the same, so are the calls. */
struct words {
    struct word {
        uint64_t at; /* bytes above the stack pointer */
        uint64_t value;
    } * list;
    size_t used, most; /* used > most: there were more than fit */
};

struct stack {
    uint64_t registers[REGISTERS];
    const void *bytes; /* of the stack, from its pointer on */
    size_t size;
    struct words *words; /* to be filled, or NULL */
};

/* The address of each call, innermost first: by what the files say about their frames, and by frame
 * pointers where they say nothing. Fewer than there are where the copy ends. */
size_t unwind(struct symbols *, const struct stack *, uint64_t *addresses, size_t most);

#endif
