#pragma once

#include <stdio.h>

/*
 * A text from a file or a command line in a place where markup is read. Control characters become
 * blanks; bytes that are no UTF-8 and marks that turn the text round become U+FFFD.
 */
void write_xml(FILE *out, const char *text);      /* in HTML and SVG, also in quotes */
void write_markdown(FILE *out, const char *text); /* also in a table */
void write_csv(FILE *out, const char *text);      /* one field of RFC 4180 */
