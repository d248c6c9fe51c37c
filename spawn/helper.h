/*
 * forkless-exec, which a child executes first where it needs memory of its own: found and opened
 * once a process, its descriptors, and what it reports through a pipe. Private.
 */
#ifndef FL_HELPER_H
#define FL_HELPER_H

#include "plan.h"
#include "slot.h"

/* Opens what this child needs for it. An error is told, and what was opened is the slot's to
 * close. */
int fl_helper_begin(forkless_child *, forkless_error *);
/* What the child has by now, and the other end of its pipe. */
void fl_helper_close_theirs(forkless_child *);
void fl_helper_close_ours(forkless_child *);

/* Its argument 0. */
enum { FL_HELPER_NAME = 32 };
void fl_helper_name(char name[FL_HELPER_NAME], int base);

/* The record of a child that did not come as far as its exec, in terms of the command. */
void fl_helper_translate(forkless_child *);

/* Whether what it had to say is known; without waiting. */
bool fl_helper_look(forkless_child *);

/* Waits until the target is executed, or the reason why not is in the record, or the child has been
 * killed. */
void fl_helper_await(forkless_child *);
/* The same at once, of a child that has ended in this way; `code` is an exit status or -1. */
void fl_helper_settle(forkless_child *, int code);

#endif
