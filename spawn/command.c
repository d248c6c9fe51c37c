/* Setters copy and validate; a command is complete after each of them and fixed by its first use.
 */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { STRINGS_ROOM = 4096 - sizeof(size_t[4]) };

struct fl_strings {
    struct fl_strings *next;
    size_t used, room;
    char bytes[];
};

static char *copy_string(forkless_command *c, const char *s) {
    size_t size = strlen(s) + 1;
    struct fl_strings *top = c->strings;
    if (!top || top->room - top->used < size) {
        size_t room = size > STRINGS_ROOM ? size : STRINGS_ROOM;
        top = malloc(sizeof *top + room);
        if (!top)
            return NULL;
        *top = (struct fl_strings){.next = c->strings, .room = room};
        c->strings = top;
    }
    char *copy = top->bytes + top->used;
    top->used += size;
    return memcpy(copy, s, size);
}

static int copy_environment(forkless_command *c, char *const environment[]) {
    size_t n = 0;
    while (environment && environment[n])
        n++;
    char **envp = calloc(n + 1, sizeof *envp);
    if (!envp)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        envp[i] = copy_string(c, environment[i]);
        if (!envp[i]) {
            free(envp);
            return -ENOMEM;
        }
    }
    free(c->envp);
    c->envp = envp;
    return 0;
}

static int append_argument(forkless_command *c, const char *argument) {
    if (c->argc + 2 > c->argv_room) {
        size_t room = c->argv_room ? 2 * c->argv_room : 8;
        char **argv = realloc(c->argv, room * sizeof *argv);
        if (!argv)
            return -ENOMEM;
        c->argv = argv;
        c->argv_room = room;
    }
    char *copy = copy_string(c, argument);
    if (!copy)
        return -ENOMEM;
    c->argv[c->argc++] = copy;
    c->argv[c->argc] = NULL;
    return 0;
}

int forkless_command_new(forkless_command **out, const char *program) {
    if (!out)
        return -EINVAL;
    *out = NULL;
    if (!program || !*program)
        return -EINVAL;
    forkless_command *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    atomic_init(&c->references, 1);
    c->index = -1;
    int rc = append_argument(c, program);
    if (rc == 0)
        rc = copy_environment(c, environ);
    if (rc < 0) {
        forkless_command_free(c);
        return rc;
    }
    c->program = c->argv[0];
    *out = c;
    return 0;
}

void fl_command_take(forkless_command *c) {
    atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
}

void fl_command_drop(forkless_command *c) {
    if (atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
        return;
    for (struct fl_strings *s = c->strings, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    fl_descriptors_free(&c->descriptors);
    free(c->argv);
    free(c->envp);
    free(c);
}

void forkless_command_free(forkless_command *c) {
    if (c)
        fl_command_drop(c);
}

static bool in_use(const forkless_command *c) {
    return atomic_load_explicit(&c->used, memory_order_acquire);
}

int fl_command_use(forkless_command *c) {
    if (!in_use(c))
        atomic_store_explicit(&c->used, true, memory_order_release);
    return fl_descriptors_plan(&c->descriptors);
}

/* The answer of a setter; the first error sticks. */
static int set(forkless_command *c, const char *setter, int index, int code) {
    if (code < 0 && c->code == 0) {
        c->code = code;
        c->setter = setter;
        c->index = index;
    }
    return code;
}

int forkless_command_arg(forkless_command *c, const char *argument) {
    if (!c)
        return -EINVAL;
    if (in_use(c))
        return -EBUSY;
    int rc = argument ? append_argument(c, argument) : -EINVAL;
    return set(c, __func__, (int)c->argc, rc);
}

int forkless_command_env(forkless_command *c, char *const environment[]) {
    if (!c)
        return -EINVAL;
    if (in_use(c))
        return -EBUSY;
    return set(c, __func__, -1, environment ? copy_environment(c, environment) : -EINVAL);
}

int forkless_command_fd(forkless_command *c, int child_fd, int parent_fd) {
    if (!c)
        return -EINVAL;
    if (in_use(c))
        return -EBUSY;
    return set(c, __func__, child_fd, fl_descriptors_add(&c->descriptors, child_fd, parent_fd));
}
