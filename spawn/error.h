/* Private. */
#ifndef FL_ERROR_H
#define FL_ERROR_H

#include "forkless.h"

/* Fills *error, unless it is NULL, and returns `code`. `subject` may be NULL. */
int fl_error(forkless_error *error, int code, enum forkless_step step, int index,
             const char *subject);

#endif
