#pragma once

#include "comparison.h"

#include <stdio.h>

/* A comparison in 80 columns, as Markdown, and as one HTML page without scripts. */
void print_comparison(const struct comparison *comparison, bool colours, FILE *out);
void print_comparison_markdown(const struct comparison *comparison, FILE *out);
void print_comparison_html(const struct comparison *comparison, FILE *out);
