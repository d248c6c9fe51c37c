#pragma once

#include "tables.h"

/* The cells that capture what a child writes, a row each, where the run has any. */
bool has_captures(const struct run *run);
void show_captures(const struct run *run, show_table *show, void *to);
