/* Setters copy and validate; a command is complete after each of them and fixed by its first use.
 */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "own.h"
#include "plan.h"

extern char **environ;

enum { STRINGS_ROOM = 4096 - sizeof(size_t[4]), ALIGNMENT = _Alignof(max_align_t) };

struct fl_strings {
    struct fl_strings *next;
    size_t used, room;
    _Alignas(max_align_t) char bytes[];
};

void *fl_copy(forkless_command *c, const void *data, size_t size) {
    struct fl_strings *top = c->strings;
    size_t from = top ? (top->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
    if (!top || from > top->room || top->room - from < size) {
        size_t room = size > STRINGS_ROOM ? size : STRINGS_ROOM;
        top = malloc(sizeof *top + room);
        if (!top)
            return NULL;
        *top = (struct fl_strings){.next = c->strings, .room = room};
        c->strings = top;
        from = 0;
    }
    top->used = from + size;
    return data ? memcpy(top->bytes + from, data, size) : top->bytes + from;
}

char *fl_copy_string(forkless_command *c, const char *s) {
    return fl_copy(c, s, strlen(s) + 1);
}

int fl_append(char ***array, size_t *count, size_t *room, char *string) {
    if (!string)
        return -ENOMEM;
    if (*count + 2 > *room) {
        size_t more = *room ? 2 * *room : 8;
        char **grown = realloc(*array, more * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        *array = grown;
        *room = more;
    }
    (*array)[(*count)++] = string;
    (*array)[*count] = NULL;
    return 0;
}

static size_t place_of(const forkless_command *c, enum forkless_step step, int index) {
    size_t i = 0;
    while (i < c->call_count &&
           (c->calls[i].step < step || (c->calls[i].step == step && c->calls[i].index < index)))
        i++;
    return i;
}

int fl_put(forkless_command *c, const struct fl_call *call) {
    size_t i = place_of(c, call->step, call->index);
    if (i == c->call_count || c->calls[i].step != call->step || c->calls[i].index != call->index) {
        if (c->call_count == c->call_room) {
            size_t room = c->call_room ? 2 * c->call_room : 8;
            struct fl_call *calls = realloc(c->calls, room * sizeof *calls);
            if (!calls)
                return -ENOMEM;
            c->calls = calls;
            c->call_room = room;
        }
        memmove(&c->calls[i + 1], &c->calls[i], (c->call_count - i) * sizeof *c->calls);
        c->call_count++;
    }
    c->calls[i] = *call;
    return 0;
}

void fl_take_out(forkless_command *c, enum forkless_step step, int index) {
    size_t kept = 0;
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].step != step || (index >= 0 && c->calls[i].index != index))
            c->calls[kept++] = c->calls[i];
    c->call_count = kept;
}

int fl_put_only(forkless_command *c, const struct fl_call *call) {
    fl_take_out(c, call->step, -1);
    return fl_put(c, call);
}

const struct fl_call *fl_command_call(const forkless_command *c, enum forkless_step step) {
    size_t i = place_of(c, step, -1);
    return i < c->call_count && c->calls[i].step == step ? &c->calls[i] : NULL;
}

bool fl_has(const forkless_command *c, enum forkless_step step) {
    return fl_command_call(c, step) != NULL;
}

static int set_defaults(forkless_command *c) {
    sigset_t none;
    sigemptyset(&none);
    int rc = forkless_command_mask(c, &none);
    return rc < 0 ? rc : forkless_command_signal(c, SIGPIPE, FORKLESS_DEFAULT);
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
    c->index = c->program_fd = c->cgroup = c->user_namespace = -1;
    c->program = fl_copy_string(c, program);
    int rc = forkless_command_arg(c, program);
    if (rc == 0)
        rc = environ ? forkless_command_env(c, environ) : forkless_command_env(c, (char *[]){NULL});
    if (rc == 0)
        rc = set_defaults(c);
    if (rc < 0 || !c->program) {
        forkless_command_free(c);
        return -ENOMEM;
    }
    *out = c;
    return 0;
}

/* In a debug build the head of a freed command stays, so that every later use is found out. */
static void release(forkless_command *c) {
#ifdef FORKLESS_DEBUG
    static _Atomic(forkless_command *) last;
    c->strings = (void *)atomic_exchange(&last, c);
#else
    free(c);
#endif
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
    fl_plan_free(c->prepared);
    fl_own_drop(&c->job);
    fl_descriptors_free(&c->descriptors);
    free(c->calls);
    free(c->argv);
    free(c->envp);
    release(c);
}

void forkless_command_free(forkless_command *c) {
    if (!c || c->freed)
        return;
    c->freed = true;
    fl_command_drop(c);
}

int fl_set_begin(const forkless_command *c) {
    if (!c || c->freed)
        return -EINVAL;
    return atomic_load_explicit(&c->prepared, memory_order_acquire) ? -EBUSY : 0;
}

int fl_set_end(forkless_command *c, const char *setter, int index, int code) {
    if (code < 0 && c->code == 0) {
        c->code = code;
        c->setter = setter;
        c->index = index;
    }
    return code;
}

int fl_command_prepare(forkless_command *c, int *index) {
    if (atomic_load_explicit(&c->prepared, memory_order_acquire))
        return 0;
    int rc = fl_descriptors_check(&c->descriptors, index);
    if (rc < 0)
        return rc;
    struct fl_prepared *mine = fl_plan(c), *none = NULL;
    if (!mine)
        return -ENOMEM;
    if (!atomic_compare_exchange_strong(&c->prepared, &none, mine))
        fl_plan_free(mine);
    return 0;
}
