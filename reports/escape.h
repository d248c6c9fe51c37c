#pragma once

#include <stdio.h>

/* Prints a text as HTML, in an element or between double quotes; control characters as blanks. */
void put_escaped(FILE *out, const char *text);
