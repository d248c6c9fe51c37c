#pragma once

#include <stdbool.h>

/* The further axes of a cell, as its name has them: "pages:thp/load:all". */

/* The value of one, up to the next '/' or the end; NULL: it is not among them. */
const char *further_value(const char *more, const char *axis);
bool further_is(const char *more, const char *axis, const char *value);
/* The others, malloced. */
char *further_without(const char *more, const char *axis);
