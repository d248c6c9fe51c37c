#pragma once

#include "tables.h"

/* A table for each place of a run where many commands were started, so many at once. */
bool has_many(const struct run *run);
void show_many(const struct run *run, show_table *show, void *to);
