#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int open_locked(struct record *r, const char *path, int flags) {
    r->fd = open(path, flags | O_APPEND | O_CLOEXEC, 0666);
    if (r->fd < 0)
        return -errno;
    if (flock(r->fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    int rc = -errno;
    close(r->fd);
    return rc;
}

int record_create(struct record *r, const char *path) {
    return open_locked(r, path, O_WRONLY | O_CREAT | O_EXCL);
}

int record_reopen(struct record *r, const char *path) {
    return open_locked(r, path, O_RDWR);
}

int record_cut(struct record *r, off_t size) {
    return ftruncate(r->fd, size) < 0 ? -errno : 0;
}

int record_append(struct record *r, json_t *line) {
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(line);
    if (!text)
        return -ENOMEM;
    size_t size = strlen(text), written = 0;
    text[size++] = '\n';
    int rc = 0;
    while (written < size && rc == 0) {
        ssize_t n = write(r->fd, text + written, size - written);
        if (n > 0)
            written += (size_t)n;
        else if (n == 0 || errno != EINTR)
            rc = n == 0 ? -ENOSPC : -errno;
    }
    free(text);
    return rc;
}
