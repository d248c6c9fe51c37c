/*
 * What a child does between its birth and its exec, as data: system calls in their order. Setters
 * write them, the child carries them out. Private.
 */
#ifndef FL_CALL_H
#define FL_CALL_H

#include <stddef.h>

#include "arch/syscall.h"
#include "forkless.h"

enum fl_call_kind {
    FL_CALL,    /* as it stands */
    FL_COPY,    /* the same; of step descriptor: of one that is in place, not of the caller's */
    FL_SAVE,    /* its result becomes the spare, unless a later one still reads that number */
    FL_OPEN,    /* the same, and once more without the old `index` if there is no room for it */
    FL_FILL,    /* writes (pwrite64) all of arguments 1 and 2 to the spare */
    FL_PLACE,   /* `index` becomes the spare, open over exec */
    FL_PROGRAM, /* its result is the program's descriptor, unless a later one reads that number */
    FL_CLOSE_OTHERS, /* all but 0, 1, 2 are closed at exec, or at once where the table is shared */
    FL_FOREGROUND,   /* our group becomes that of the terminal `index` */
    FL_DEATH_SIGNAL, /* as it stands, unless the parent is gone by then */
    FL_CALLERS_MASK, /* the mask that the caller had, where the child's is another by then */
};

struct fl_call {
    enum fl_call_kind kind;
    enum forkless_step step; /* this, `index`, `from` and `subject` are what an error says */
    int number, index;
    int from; /* of step descriptor: the caller's */
    const char *subject;
    long arguments[5];
};

/* Whether it reads this number of the caller's to make a descriptor of the child's. */
FL_INLINE bool fl_call_reads(const struct fl_call *call, long fd) {
    return call->step == FORKLESS_STEP_DESCRIPTOR && call->from == fd &&
           (call->kind == FL_CALL || call->kind == FL_SAVE);
}

struct fl_calls {
    const struct fl_call *call;
    size_t count;
};

#endif
