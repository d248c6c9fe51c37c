/* A flame graph: how often what was called by what, as one SVG file without any script. */
#ifndef FLAME_H
#define FLAME_H

#include <stdio.h>

#include "stacks.h"

void flame_write(FILE *, const char *title, const struct stacks_entry *, size_t count);

#endif
