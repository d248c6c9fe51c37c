/* "Did you mean": the name that was probably meant. */
#ifndef SIMILAR_H
#define SIMILAR_H

#include <stddef.h>

/* The nearest of the names, when it is near enough to be a slip of the hand; else NULL. */
const char *similar(const char *meant, const char *const *names, size_t count);

#endif
