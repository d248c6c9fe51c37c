/* How much memory there is, and how much a block takes. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* Bytes that a block with this ballast takes: the rest is the harness, page tables, and a fork's
 * copy of them. */
uint64_t block_memory(uint64_t rss);

/* Bytes that a new process may still use: the least of MemAvailable and what its cgroups leave. */
uint64_t memory_available(void);

#endif
