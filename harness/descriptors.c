#include "descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More than a block and what a strategy opens for a moment. */
enum { OWN = 64 };

bool descriptors_allowed(unsigned count, char *why, size_t size) {
    struct rlimit limit;
    rlim_t need = count + OWN;
    if (count == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= need)
        return true;
    snprintf(why, size,
             "needs %ju descriptors, and the hard limit is %ju: sudo prlimit --pid $$ --nofile=%ju",
             (uintmax_t)need, (uintmax_t)limit.rlim_max, (uintmax_t)need);
    return false;
}

/* Their number, and one more than the highest. */
static unsigned look(unsigned *above) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    *above = 0;
    for (const struct dirent *entry; d && (entry = readdir(d)); n++) {
        unsigned fd = (unsigned)strtoul(entry->d_name, NULL, 10);
        if (fd >= *above && (int)fd != dirfd(d))
            *above = fd + 1;
    }
    if (d)
        closedir(d);
    return n;
}

unsigned descriptors_count(void) {
    unsigned above;
    return look(&above);
}

static int raise_limit(const struct rlimit *now, rlim_t need) {
    struct rlimit limit = *now;
    if (limit.rlim_cur >= need)
        return 0;
    limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}

int descriptors_open(struct descriptors *d, unsigned count, unsigned room, int fd) {
    unsigned before = look(&d->first);
    d->count = 0;
    d->raised = false;
    if (count + room == 0)
        return 0;
    if (getrlimit(RLIMIT_NOFILE, &d->limit) < 0)
        return -errno;
    int rc = raise_limit(&d->limit, count + room + OWN);
    d->raised = rc == 0;
    for (; rc == 0 && d->count < count; d->count += rc == 0)
        if (fcntl(fd, F_DUPFD_CLOEXEC, d->first + d->count) < 0)
            rc = -errno;
    if (rc == 0 && descriptors_count() != before + count)
        rc = -EBADF;
    if (rc < 0)
        descriptors_close(d);
    return rc;
}

void descriptors_close(struct descriptors *d) {
    if (d->raised)
        setrlimit(RLIMIT_NOFILE, &d->limit);
    for (; d->count > 0; d->count--)
        close((int)(d->first + d->count - 1));
}
