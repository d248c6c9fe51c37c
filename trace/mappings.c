#include "mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mapping_parse(char *line, struct mapping *m) {
    char permissions[5];
    int path = 0;
    *m = (struct mapping){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
               &m->end, permissions, &m->offset, &m->major, &m->minor, &m->inode, &path) != 7)
        return false;
    line[strcspn(line, "\n")] = '\0';
    m->executable = permissions[2] == 'x';
    m->path = path ? line + path : "";
    return true;
}

int mapping_each(pid_t pid, void (*each)(void *, const struct mapping *), void *argument) {
    char path[64], *line = NULL;
    size_t room = 0;
    struct mapping m;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return -errno;
    errno = 0;
    while (getline(&line, &room, maps) > 0)
        if (mapping_parse(line, &m))
            each(argument, &m);
    int error = errno; /* ESRCH: it has ended meanwhile */
    free(line);
    fclose(maps);
    return -error;
}

/* Overlays show another device in maps than stat does: the number of the file has to do. */
static int open_same(const char *path, uint64_t inode) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_ino == inode)
        return fd;
    close(fd);
    return -ESTALE;
}

int mapping_open(pid_t pid, const struct mapping *m) {
    char path[4096 + 64];
    if (!m->inode)
        return -ENOENT;
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->start, m->end);
    int fd = open_same(path, m->inode);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    fd = open_same(path, m->inode);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "/proc/%d/root%s", pid, m->path);
    fd = open_same(path, m->inode);
    return fd >= 0 ? fd : open_same(m->path, m->inode);
}

const char *mapping_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
