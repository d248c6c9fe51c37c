#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lines_read(struct lines *l) {
    if (l->room - l->used < 65536) {
        char *bytes = realloc(l->bytes, l->room + 2 * 65536);
        if (!bytes)
            return false;
        l->bytes = bytes;
        l->room += 2 * 65536;
    }
    ssize_t n = read(l->fd, l->bytes + l->used, l->room - l->used);
    if (n > 0)
        l->used += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

char *lines_next(struct lines *l) {
    char *end = l->used ? memchr(l->bytes, '\n', l->used) : NULL;
    if (!end)
        return NULL;
    size_t size = (size_t)(end - l->bytes);
    char *line = strndup(l->bytes, size);
    l->used -= size + 1;
    memmove(l->bytes, end + 1, l->used);
    return line;
}
