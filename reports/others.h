#pragma once

#include "tables.h"

/* What a spawn does to others than its caller's call, a table for each place of the matrix that
 * the run has: how long a victim stood still, and what comes after the call. */

/* Whether it is in one of these tables, and in no other. */
bool is_of_others(const struct cell *cell);

bool has_stalls(const struct run *run);
void show_stalls(const struct run *run, show_table *show, void *to);

bool has_aftermath(const struct run *run);
void show_aftermath(const struct run *run, show_table *show, void *to);
