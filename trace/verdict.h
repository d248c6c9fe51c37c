/* What a summary means: what a program pays, why, and what it could do instead. */
#ifndef VERDICT_H
#define VERDICT_H

#include <jansson.h>

#include "hints.h"
#include "measure.h"
#include "summary.h"

void verdict_print(const struct summary *, const struct measured *, const struct hints *);
/* The same facts, an object for each program. */
json_t *verdict_describe(const struct program_summary *, const struct measured *,
                         const struct hints *);

#endif
