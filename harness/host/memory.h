/* How much memory there is, and how much a block takes. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* Bytes that a block with this ballast takes while so many copies of it live: the rest is the
 * harness, and page tables, the block's and those of each copy. */
uint64_t block_memory(uint64_t rss, unsigned copies);

/* The same of one whose ballast is simulated: a file of 1 GiB, and page tables for all of it. */
uint64_t simulated_memory(uint64_t rss, unsigned copies);

/* Bytes that a new process may still use: the least of MemAvailable, what its cgroups leave, and
 * the limit of its address space; UINT64_MAX where nothing can be told. */
uint64_t memory_available(void);

/* The GiB of memory behind simulated memory: with fewer what the kernel counts for each page stays
 * in the caches, as it does not for large parents. */
enum { SIMULATED_PARTS = 3 };

/* What would give it so much, to stand behind a sentence (": COMMAND"); "" where no command would.
 */
const char *memory_remedy(uint64_t need);

#endif
