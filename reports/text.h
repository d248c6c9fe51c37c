#pragma once

#include "run.h"

#include <stdio.h>

/* The report as plain text in 80 columns. */
void text_print(const struct run *run, FILE *out);
