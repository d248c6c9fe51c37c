/* What the tests of batches share. */
#ifndef BATCH_SUPPORT_H
#define BATCH_SUPPORT_H

#include "forkless.h"

/* In a process for each mode. */
void in_each_mode(void (*body)(enum forkless_batch_mode));

forkless_batch *batch(const forkless_batch_options *);
/* Adds it, which has to succeed; `host` is a number. */
void add(forkless_batch *, const forkless_command *, const forkless_run_options *, long host);
/* What is neither fed nor captured. */
void add_plain(forkless_batch *, const forkless_command *, long host);
/* The next answer, which has to come; its number. */
long answered(forkless_batch *, forkless_answer *);
void has_run(const forkless_answer *, enum forkless_how how, int code);
/* Nothing is to be answered any more; frees it. */
void is_dry(forkless_batch *);

extern const forkless_run_options plain;

#endif
