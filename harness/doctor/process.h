/* What a process costs to copy: the facts of one that is there. */
#ifndef PROCESS_H
#define PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fact {
    uint64_t value;
    int why; /* the errno for which it is unknown; 0: known */
};

struct process {
    pid_t pid;
    char name[32];             /* printable */
    uint64_t rss, page_tables; /* bytes */
    uint64_t anonymous;        /* of rss: what fork copies page tables for, */
    struct fact huge;          /* but for this part of it, in transparent huge pages */
    uint64_t swapped;
    uint64_t threads;
    struct fact mappings, descriptors;
};

/* NULL, or one sentence that says why there is nothing to say, in `buffer`. Some facts of another
 * user's process are unknown. */
const char *process_read(pid_t pid, struct process *out, char *buffer, size_t size);

/* The anonymous memory in 4 KiB pages: all of it when nobody says what is in huge pages. */
uint64_t process_small_pages(const struct process *);

/* Sizes in bytes; what is not known is null, and `unknown` says why. */
json_t *process_describe(const struct process *);

#endif
