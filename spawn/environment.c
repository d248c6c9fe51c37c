#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Whether an entry is of this variable. */
static bool is_of(const char *entry, const char *name, size_t length) {
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

const char *fl_environment_value(char *const envp[], const char *name) {
    size_t length = strlen(name);
    for (; *envp; envp++)
        if (is_of(*envp, name, length))
            return *envp + length + 1;
    return NULL;
}

static int copy_environment(forkless_command *c, char *const environment[]) {
    char **envp = calloc(1, sizeof *envp);
    size_t count = 0, room = 1;
    int rc = envp ? 0 : -ENOMEM;
    for (; rc == 0 && *environment; environment++)
        rc = fl_append(&envp, &count, &room, fl_copy_string(c, *environment));
    if (rc < 0) {
        free(envp);
        return rc;
    }
    free(c->envp);
    c->envp = envp;
    c->envc = count;
    c->envp_room = room;
    return 0;
}

int forkless_command_env(forkless_command *c, char *const environment[]) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    return fl_set_end(c, __func__, -1, environment ? copy_environment(c, environment) : -EINVAL);
}

/* Takes out every entry of this variable. */
static void unset(forkless_command *c, const char *name, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < c->envc; i++)
        if (!is_of(c->envp[i], name, length))
            c->envp[kept++] = c->envp[i];
    c->envc = kept;
    c->envp[kept] = NULL;
}

static int set(forkless_command *c, const char *name, size_t length, const char *value) {
    size_t size = strlen(value) + 1;
    char *entry = fl_copy(c, NULL, length + 1 + size);
    if (!entry)
        return -ENOMEM;
    memcpy(entry, name, length);
    entry[length] = '=';
    memcpy(entry + length + 1, value, size);
    unset(c, name, length);
    return fl_append(&c->envp, &c->envc, &c->envp_room, entry);
}

int forkless_command_setenv(forkless_command *c, const char *name, const char *value) {
    int rc = fl_set_begin(c);
    if (rc < 0)
        return rc;
    if (!name || !*name || strchr(name, '='))
        return fl_set_end(c, __func__, -1, -EINVAL);
    size_t length = strlen(name);
    if (!value)
        unset(c, name, length);
    return fl_set_end(c, __func__, -1, value ? set(c, name, length, value) : 0);
}
