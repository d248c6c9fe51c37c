/* Sizes and times as people write them, on the command line, in a matrix and in a cell's name. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "0", "256MiB", "1GiB" (KiB to TiB): whole pages of 4 KiB. */
bool size_parse(const char *text, uint64_t *bytes);
void size_name(uint64_t bytes, char *out, size_t size);

/* "0", "20us", "1ms" (ns to s). */
bool time_parse(const char *text, uint64_t *ns);
void time_name(uint64_t ns, char *out, size_t size);

/* A whole number and nothing else. */
bool count_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);

#endif
