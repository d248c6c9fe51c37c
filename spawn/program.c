/* What is executed: program and arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "environment.h"

int forkless_command_search(forkless_command *c) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    c->searches = true;
    return 0;
}

int forkless_command_program_fd(forkless_command *c, int parent_fd) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    c->program_fd = parent_fd;
    return fl_set_end(c, __func__, parent_fd, parent_fd < 0 ? -EBADF : 0);
}

int forkless_command_arg(forkless_command *c, const char *argument) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    rc = argument ? fl_append(&c->argv, &c->argc, &c->argv_room, fl_copy_string(c, argument))
                  : -EINVAL;
    return fl_set_end(c, __func__, (int)c->argc, rc);
}

int forkless_command_arg0(forkless_command *c, const char *name) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    char *copy = name ? fl_copy_string(c, name) : NULL;
    if (copy)
        c->argv[0] = copy;
    return fl_set_end(c, __func__, 0, !name ? -EINVAL : !copy ? -ENOMEM : 0);
}

static size_t entries_of(const char *path) {
    size_t n = 1;
    for (; *path; path++)
        n += *path == ':';
    return n;
}

const char **fl_search(const char *program, char *const envp[]) {
    const char *path = fl_environment_value(envp, "PATH");
    if (!path)
        path = "/bin:/usr/bin"; /* confstr(_CS_PATH) of glibc */
    size_t n = entries_of(path), name = strlen(program) + 1;
    const char **paths = malloc((n + 1) * sizeof *paths + strlen(path) + n * (name + 1));
    if (!paths)
        return NULL;
    char *to = (char *)(paths + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t folder = strcspn(path, ":");
        paths[i] = to;
        memcpy(to, path, folder);
        to += folder;
        if (folder > 0)
            *to++ = '/';
        memcpy(to, program, name);
        to += name;
        path += folder + 1;
    }
    paths[n] = NULL;
    return paths;
}
