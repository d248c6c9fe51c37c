/* What was captured of a child, against what its target writes. */
#ifndef CAPTURED_H
#define CAPTURED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is all that the target, a name or a path, writes, and nothing else; else false with a
 * sentence in `why`. What a program of the user's own writes is not known: anything will do. */
bool captured_is_whole(const char *target, const char *output, size_t length, char *why,
                       size_t size);

#endif
