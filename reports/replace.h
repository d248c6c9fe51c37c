#pragma once

#include "run.h"

#include <stdbool.h>
#include <stddef.h>

/* False when there is a file that the report must not replace: the run, or any results file. */
bool may_replace(const char *path, const struct run *run, char **error);

/*
 * Writes beside the file, and then puts it in its place: never is half of it there. False: *error
 * is one malloced sentence, and the file is as it was.
 */
bool replace_file(const char *path, const char *text, size_t length, char **error);
