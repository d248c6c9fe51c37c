/* Descriptors that a parent has open for nothing but their number. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

struct descriptors {
    unsigned first, count;
    bool raised;
    struct rlimit limit; /* as it was */
};

/* Whether so many may be open beside those of a block; else a sentence that ends with what would
 * help. */
bool descriptors_allowed(unsigned count, char *why, size_t size);

/* Of this process, with the one that counts them. */
unsigned descriptors_count(void);

/* Opens so many copies of `fd`, close-on-exec, above all that are open, and raises the soft limit
 * as far as these and `room` more take. 0 or -errno, with none left. */
int descriptors_open(struct descriptors *, unsigned count, unsigned room, int fd);
void descriptors_close(struct descriptors *);

#endif
