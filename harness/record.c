#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int record_open(struct record *r, const char *path) {
    r->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return r->fd < 0 ? -errno : 0;
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
