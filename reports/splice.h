#pragma once

#include "run.h"

#include <stdbool.h>

/*
 * Puts what the run found between the markers of a Markdown file:
 *
 *     <!-- forkless:begin text --> ... <!-- forkless:end text -->
 *
 * `text` is the page as text, `verdict` its verdict, `table` the ranking, and `picture FILE` a link
 * to the picture, which is written to FILE beside the Markdown file. False: *error is one malloced
 * sentence; the Markdown file is as it was.
 */
bool splice(const char *path, const struct run *run, char **error, bool *is_usage);
