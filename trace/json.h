/* Creations as JSON lines. */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>

#include "creation.h"

/* `phases`: with them, or null where nothing is known. */
json_t *json_creation(const struct creation *, bool phases);
/* One line. Frees the value. */
void json_print(json_t *);

#endif
