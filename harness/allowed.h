/* Whether this host's limits allow a cell at all, said before anything is measured. */
#ifndef ALLOWED_H
#define ALLOWED_H

#include "cell.h"

/* False with a sentence, which ends with the command that would help, in `why`. How much memory it
 * takes is not looked at (memory.h). */
bool cell_allowed(const struct cell *, char *why, size_t size);

#endif
