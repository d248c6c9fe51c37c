#pragma once

#include "run.h"

#include <stdio.h>

/* RFC 4180: a line of names, then a line a cell; times in ns, nothing where there is no number. */
void csv_write(const struct run *run, FILE *out);
