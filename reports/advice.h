#pragma once

#include "tables.h"

/* What a user of fork can do without new code, and where the choice does not matter: tables, where
 * the run has what they compare. */
bool has_advice(const struct view *view);
void show_advice(const struct view *view, show_table *show, void *to);
