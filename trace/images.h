/* What each process that was created meanwhile can execute: also when it has ended by now. */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdint.h>
#include <sys/types.h>

#include "symbols.h"

struct images;

/* NULL: the kernel does not tell, or there is no memory. */
struct images *images_new(void);
void images_free(struct images *);

/* As it was then; CLOCK_MONOTONIC, ns. */
void images_advance(struct images *, uint64_t until);
/* Adds what the process could execute. */
void images_map(const struct images *, pid_t pid, struct symbols *);

#endif
