/*
 * How much fits is what the kernel allows (fs/exec.c, bprm_stack_limits and copy_strings): a
 * quarter of the stack's limit, but at most 6 MiB and at least 128 KiB, for the program's path, the
 * strings of arguments and environment, and a pointer for each of these; and 32 pages for one
 * string. What comes on top of that, as the interpreter of a script, is found out by the exec that
 * fails: then half of it is tried.
 */
#include "pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "batch.h"
#include "cancel.h"
#include "command.h"
#include "error.h"
#include "helper.h"

enum {
    MOST = 6 << 20,
    LEAST = 128 << 10,
    LONGEST_PAGES = 32,
    FD_PATH = 32,                 /* what the kernel calls a program by descriptor */
    HELPED = FL_HELPER_NAME + 64, /* argument 0 and path of forkless-exec */
};

void fl_arguments_take(struct fl_arguments *a) {
    atomic_fetch_add_explicit(&a->references, 1, memory_order_relaxed);
}

void fl_arguments_drop(struct fl_arguments *a) {
    if (a && atomic_fetch_sub_explicit(&a->references, 1, memory_order_acq_rel) == 1)
        free(a);
}

static struct fl_arguments *copy(const char *const *arguments, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(arguments[i]) + 1;
    struct fl_arguments *a = malloc(sizeof *a + count * sizeof *a->argument + size);
    if (!a)
        return NULL;
    char *to = (char *)(a->argument + count);
    atomic_init(&a->references, 1);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(arguments[i]) + 1;
        a->argument[i] = memcpy(to, arguments[i], length);
        to += length;
    }
    return a;
}

/* ---- how much fits ---- */

static bool is_helped(const forkless_command *c) {
    return c->helper || c->cgroup >= 0 || c->cgroup_path;
}

static rlim_t stack_of(const forkless_command *c) {
    struct rlimit own = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_STACK, &own);
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].step == FORKLESS_STEP_RLIMIT && c->calls[i].index == RLIMIT_STACK) {
            const struct rlimit *set = (const struct rlimit *)c->calls[i].arguments[2];
            /* forkless-exec is executed before it is set */
            if (!is_helped(c) || set->rlim_cur < own.rlim_cur)
                own = *set;
        }
    return own.rlim_cur;
}

static size_t limit_of(const forkless_command *c) {
    rlim_t stack = stack_of(c), limit = stack / 4;
    if (limit > MOST)
        limit = MOST;
    if (limit < LEAST)
        limit = LEAST;
    return (size_t)(limit > stack / 2 ? stack / 2 : limit); /* half is for the program */
}

static size_t size_of_strings(char *const *strings) {
    size_t size = 0;
    for (; *strings; strings++)
        size += strlen(*strings) + 1 + sizeof *strings;
    return size;
}

/* The longest path along which the program is tried. */
static size_t size_of_program(forkless_command *c) {
    int index;
    if (c->program_fd >= 0)
        return FD_PATH;
    size_t longest = strlen(c->program) + 1;
    if (c->code < 0 || fl_command_prepare(c, &index) < 0) /* its answer says so */
        return longest;
    for (const char *const *path = c->prepared->programs; *path; path++)
        if (strlen(*path) + 1 > longest)
            longest = strlen(*path) + 1;
    return longest;
}

/* For arguments and their pointers, beside what the command has itself. */
static size_t room_of(forkless_command *c, const forkless_run_options *run) {
    size_t limit = limit_of(c), used = size_of_program(c);
    used += size_of_strings(c->argv) + size_of_strings(c->envp);
    if (run && run->override && run->override->arguments)
        used += size_of_strings((char *const *)run->override->arguments);
    if (is_helped(c))
        used += HELPED;
    return used < limit ? limit - used : 0;
}

struct measure {
    size_t room, longest, most; /* bytes, with a pointer each; of one string; arguments */
};

/* How many of them are one command; 0: the first alone is too much. */
static size_t fitting(const struct measure *m, char *const *argument, size_t count) {
    size_t used = 0, n = 0;
    for (; n < count && n < m->most; n++) {
        size_t size = strlen(argument[n]) + 1;
        if (size > m->longest || size + sizeof *argument > m->room - used)
            break;
        used += size + sizeof *argument;
    }
    return n;
}

/* ---- its commands ---- */

struct pack {
    forkless_batch *batch;
    const forkless_command *command;
    const forkless_pack_options *options;
    struct fl_arguments *arguments;
    void *host;
    struct fl_tasks tasks;
};

/* False: no memory. */
static bool add_task(struct pack *p, size_t first, size_t count) {
    struct fl_task *task = fl_batch_task(p->batch, p->command, p->options->run);
    if (!task)
        return false;
    task->host = p->host;
    task->first = first;
    task->count = count ? count : 1;
    task->splits = !p->options->whole;
    task->arguments = p->arguments;
    fl_arguments_take(task->arguments);
    if (count == 0) {
        task->answered = FORKLESS_FAILED;
        fl_error(&task->error, -E2BIG, FORKLESS_STEP_EXEC, -1, p->command->program);
    }
    fl_tasks_add(&p->tasks, task);
    return true;
}

static int add_tasks(struct pack *p, size_t count) {
    const struct measure m = {
        .room = room_of((forkless_command *)p->command, p->options->run),
        .longest = LONGEST_PAGES * (size_t)sysconf(_SC_PAGESIZE),
        .most = p->options->most ? p->options->most : SIZE_MAX,
    };
    for (size_t first = 0, n; first < count; first += n ? n : 1) {
        n = fitting(&m, p->arguments->argument + first, count - first);
        if (!add_task(p, first, n))
            return -ENOMEM;
    }
    return 0;
}

static int pack(struct pack *p, const char *const *arguments, size_t count) {
    p->arguments = copy(arguments, count);
    int rc = p->arguments ? add_tasks(p, count) : -ENOMEM;
    for (struct fl_task *task; (task = fl_tasks_take(&p->tasks));)
        if (rc == 0)
            fl_batch_put(p->batch, task, p->batch->youngest);
        else
            fl_batch_task_free(task);
    fl_arguments_drop(p->arguments);
    p->batch->next_index += rc == 0;
    return rc;
}

static bool is_valid(const char *const *arguments, size_t count, const forkless_pack_options *o) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        reserved |= o->reserved[i];
    for (size_t i = 0; arguments && i < count; i++)
        if (!arguments[i])
            return false;
    return reserved == 0 && (arguments || count == 0);
}

int forkless_pack(forkless_batch *batch, const forkless_command *command,
                  const char *const arguments[], size_t count, const forkless_pack_options *options,
                  void *host) {
    static const forkless_pack_options standard;
    int rc = fl_batch_check(batch);
    if (!options)
        options = &standard;
    if (rc < 0)
        return rc;
    if (!command || command->freed || !is_valid(arguments, count, options))
        return -EINVAL;
    struct pack p = {.batch = batch, .command = command, .options = options, .host = host};
    int saved = errno;
    struct fl_cancel before = fl_cancel_hold();
    rc = pack(&p, arguments, count);
    fl_cancel_release(before);
    errno = saved;
    return rc;
}

/* ---- one that has failed ---- */

static bool has_failed(const struct fl_task *task) {
    if (task->answered == FORKLESS_FAILED)
        return task->error.code == -E2BIG && task->error.step == FORKLESS_STEP_EXEC;
    const forkless_status *status = &task->result.status;
    return task->answered == FORKLESS_RAN && status->how != FORKLESS_UNKNOWN &&
           (status->how == FORKLESS_KILLED || status->code != 0 || task->result.timed_out);
}

bool fl_pack_split(forkless_batch *b, struct fl_task *task) {
    if (!task->splits || task->count < 2 || task->cancelled || !has_failed(task))
        return false;
    struct fl_task *second = fl_batch_task(b, task->command, &task->options);
    if (!second)
        return false;
    second->index = task->index;
    second->host = task->host;
    second->splits = true;
    second->arguments = task->arguments;
    fl_arguments_take(second->arguments);
    second->count = task->count / 2;
    task->count -= second->count;
    second->first = task->first + task->count;
    if (task->answered == FORKLESS_RAN)
        forkless_result_free(&task->result);
    task->answered = 0;
    task->seen = false;
    fl_batch_hand_over(b, task);
    fl_batch_put(b, second, task);
    return true;
}
