/* What the addresses of a process are called. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mappings.h"

/* The files that one process executes; it may be gone by the time that it is asked for names. */
struct symbols;

/* NULL: no memory. */
struct symbols *symbols_new(pid_t pid);
void symbols_free(struct symbols *);
/* The same, for another process that has the same mapped. */
struct symbols *symbols_copy(const struct symbols *, pid_t pid);
/* No other has the same number, nor has this one once something was added to it. */
uint64_t symbols_version(const struct symbols *);

/* Adds what the process can execute now. 0 or -errno. */
int symbols_read(struct symbols *);
/* Adds one mapping, in place of what was there. */
void symbols_map(struct symbols *, const struct mapping *);

/* Whether something is known there. */
bool symbols_know(const struct symbols *, uint64_t address);
/* "function"; "file+0xoffset" where it has no symbol or is out of reach, the offset as addr2line
 * takes it; "0xaddress" where nothing is known. Valid until a mapping is added. */
const char *symbols_name(struct symbols *, uint64_t address);
/* The name of the file without its folder, or "?". */
const char *symbols_file(const struct symbols *, uint64_t address);

/* For unwinding. */
Dwfl *symbols_dwfl(struct symbols *);

#endif
