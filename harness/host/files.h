/* The kernel's small files, below /proc and /sys. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Stands before every path: "", but where a test has a tree of its own. */
extern const char *files_root;

enum { FILES_PATH = 1024 };

/* Each gives false when the file, the key or a number is not there; *out then has no meaning. */

bool files_path(const char *path, char *out, size_t size); /* with the root before it */
FILE *files_open(const char *path);                        /* NULL: errno says why */
bool files_there(const char *path);
/* The first line, without its newline. */
bool files_line(const char *path, char *out, size_t size);
/* A line that is one whole number and nothing else. */
bool files_number(const char *path, uint64_t *out);
/* What stands behind `key` and a colon or a space, in the first line that begins with it. */
bool files_value(const char *path, const char *key, char *out, size_t size);
/* The same as a number, whatever unit may follow. */
bool files_count(const char *path, const char *key, uint64_t *out);

/* A number at the very start of a text, ended by a space or the text's end. */
bool text_number(const char *text, uint64_t *out);

#endif
