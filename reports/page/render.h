#pragma once

#include "document.h"

#include <stdio.h>

void html_write(const struct document *document, FILE *out);
void markdown_write(const struct document *document, FILE *out);
void markdown_grid(const struct grid *grid, FILE *out);
