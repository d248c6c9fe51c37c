/* The lines of /proc/PID/maps, and the files behind them. */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
    uint64_t start, end, offset;
    unsigned major, minor;
    uint64_t inode; /* 0: no file */
    bool executable;
    const char *path; /* as the process sees it; may end in " (deleted)"; never NULL */
};

/* Cuts a line; the path stays in it. False: no such line. */
bool mapping_parse(char *line, struct mapping *);
/* Calls `each` for all that the process has. 0 or -errno. */
int mapping_each(pid_t pid, void (*each)(void *, const struct mapping *), void *argument);
/* The very file that is mapped, also when it was deleted, or has that name only where the process
 * is. A descriptor, or -errno: what stands at that path now may be another file, which is refused.
 */
int mapping_open(pid_t pid, const struct mapping *);
/* The last part of a path; with what may stand behind it. */
const char *mapping_name(const char *path);

#endif
