#include "attributes.h"

#include <string.h>
#include <unistd.h>

#include "similar.h"

static int set_fd(forkless_command *command) {
    return forkless_command_fd(command, 3, STDERR_FILENO);
}

static int set_env(forkless_command *command) {
    static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    return forkless_command_env(command, environment);
}

const struct attribute attributes[] = {
    {"none", NULL},
    {"fd", set_fd},
    {"env", set_env},
};
const size_t attribute_count = sizeof attributes / sizeof *attributes;

const struct attribute *attribute_find(const char *name) {
    for (size_t i = 0; i < attribute_count; i++)
        if (strcmp(attributes[i].name, name) == 0)
            return &attributes[i];
    return NULL;
}

const char *attribute_similar(const char *name) {
    const char *names[sizeof attributes / sizeof *attributes];
    for (size_t i = 0; i < attribute_count; i++)
        names[i] = attributes[i].name;
    return similar(name, names, attribute_count);
}
