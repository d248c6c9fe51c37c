#include "descriptor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* The first source whose `to` is not below the one asked for. */
static size_t lower_bound(const struct fl_descriptors *d, int to) {
    size_t low = 0, high = d->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->sources[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t fl_descriptors_find(const struct fl_descriptors *d, int to) {
    size_t i = lower_bound(d, to);
    return i < d->count && d->sources[i].to == to ? i : d->count;
}

static int add(struct fl_descriptors *d, const struct fl_source *source) {
    if (source->to < 0 || source->from < 0)
        return -EBADF;
    if (fl_descriptors_find(d, source->to) < d->count)
        return -EEXIST;
    if (d->count == d->room) {
        size_t room = d->room ? 2 * d->room : 4;
        struct fl_source *sources = realloc(d->sources, room * sizeof *sources);
        if (!sources)
            return -ENOMEM;
        d->sources = sources;
        d->room = room;
    }
    size_t i = lower_bound(d, source->to);
    memmove(&d->sources[i + 1], &d->sources[i], (d->count - i) * sizeof *d->sources);
    d->sources[i] = *source;
    d->count++;
    return 0;
}

int forkless_command_fd(forkless_command *c, int child_fd, int parent_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_source source = {.kind = FL_FROM, .to = child_fd, .from = parent_fd};
    return fl_set_end(c, __func__, child_fd, add(&c->descriptors, &source));
}

int forkless_command_file(forkless_command *c, int child_fd, const char *path, int flags,
                          mode_t mode) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!path || !*path)
        return fl_set_end(c, __func__, child_fd, -EINVAL);
    const struct fl_source source = {
        .kind = FL_FILE,
        .to = child_fd,
        .path = fl_copy_string(c, path),
        .flags = flags,
        .mode = mode,
    };
    rc = source.path ? add(&c->descriptors, &source) : -ENOMEM;
    return fl_set_end(c, __func__, child_fd, rc);
}

int forkless_command_pipe(forkless_command *c, int child_fd, enum forkless_end child_end) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_source source = {.kind = FL_PIPE, .to = child_fd, .flags = (int)child_end};
    if (child_end != FORKLESS_READS && child_end != FORKLESS_WRITES)
        rc = -EINVAL;
    else if (c->descriptors.pipes == FORKLESS_PIPES)
        rc = -E2BIG;
    else
        rc = add(&c->descriptors, &source);
    if (rc == 0)
        c->descriptors.pipes++;
    return fl_set_end(c, __func__, child_fd, rc);
}

int forkless_command_memory(forkless_command *c, int child_fd, const void *data, size_t size) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if ((!data && size > 0) || size > LONG_MAX)
        return fl_set_end(c, __func__, child_fd, -EINVAL);
    const struct fl_source source = {
        .kind = FL_MEMORY,
        .to = child_fd,
        .data = fl_copy(c, data, size),
        .size = size,
    };
    rc = source.data ? add(&c->descriptors, &source) : -ENOMEM;
    return fl_set_end(c, __func__, child_fd, rc);
}

/* Whether this descriptor is, by one `same` or several, what the other is. */
static bool leads_to(const struct fl_descriptors *d, int fd, int other) {
    for (;;) {
        if (fd == other)
            return true;
        size_t i = fl_descriptors_find(d, fd);
        if (i == d->count || d->sources[i].kind != FL_SAME)
            return false;
        fd = d->sources[i].from;
    }
}

int forkless_command_same(forkless_command *c, int child_fd, int as_child_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    const struct fl_source source = {.kind = FL_SAME, .to = child_fd, .from = as_child_fd};
    if (child_fd >= 0 && leads_to(&c->descriptors, as_child_fd, child_fd))
        rc = -ELOOP;
    else
        rc = add(&c->descriptors, &source);
    return fl_set_end(c, __func__, child_fd, rc);
}

int forkless_command_inherit_fds(forkless_command *c) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    c->descriptors.inherits = true;
    return 0;
}

int fl_descriptors_check(const struct fl_descriptors *d, int *index) {
    for (size_t i = 0; i < d->count; i++) {
        const struct fl_source *s = &d->sources[i];
        *index = s->to;
        if (s->kind == FL_SAME && s->from > 2 && !d->inherits &&
            fl_descriptors_find(d, s->from) == d->count)
            return -EBADF;
    }
    return 0;
}

void fl_descriptors_free(struct fl_descriptors *d) {
    free(d->sources);
}
