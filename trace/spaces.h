/* The symbols of each process that is followed, through forks, execs and its end. */
#ifndef SPACES_H
#define SPACES_H

#include <stdint.h>
#include <sys/types.h>

#include "records.h"
#include "symbols.h"

struct spaces;

struct spaces *spaces_new(void);
void spaces_free(struct spaces *);

/* A process, with what it has mapped now. */
void spaces_add(struct spaces *, pid_t pid);
void spaces_take(struct spaces *, const struct record *);
/* NULL: it is not known. */
struct symbols *spaces_find(struct spaces *, pid_t pid);

#endif
