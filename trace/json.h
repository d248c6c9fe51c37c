/* Creations as JSON lines. */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>

#include "creation.h"

json_t *json_creation(const struct creation *);
/* One line. Frees the value. */
void json_print(json_t *);

#endif
