/* What about this host colours figures or spawning. */
#ifndef EXAMINE_H
#define EXAMINE_H

#include <jansson.h>

/* The `findings` of a run line. Needs no privilege and half a second. */
json_t *examine_host(void);

#endif
