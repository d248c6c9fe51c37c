/* Batches, as their callers see them: what is added, answered, counted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/syscall.h"
#include "cancel.h"
#include "clock.h"
#include "command.h"
#include "policy.h"
#include "slot.h"
#include "wait.h"

/* What every function of a batch leaves alone. */
struct undisturbed {
    struct fl_cancel cancel;
    int saved;
};

static struct undisturbed begin(void) {
    return (struct undisturbed){.saved = errno, .cancel = fl_cancel_hold()};
}

static int end(struct undisturbed u, int rc) {
    fl_cancel_release(u.cancel);
    errno = u.saved;
    return rc;
}

int fl_batch_check(const forkless_batch *b) {
    if (!b)
        return -EINVAL;
    return b->lives ? 0 : -ECHILD;
}

/* ---- its beginning ---- */

static bool is_valid(const forkless_batch_options *o) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        reserved |= o->reserved[i];
    return reserved == 0 && (unsigned)o->mode <= FORKLESS_THREAD && o->each_ns >= 0;
}

/* Those that this thread may use; 1 if it cannot be told. */
static size_t cpus(void) {
    unsigned long mask[128];
    long size = fl_syscall(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0);
    size_t n = 0;
    for (size_t i = 0; size > 0 && i < (size_t)size / sizeof *mask; i++)
        n += (size_t)__builtin_popcountl(mask[i]);
    return n ? n : 1;
}

static int open_batch(forkless_batch *b, const forkless_batch_options *o) {
    b->lives = true;
    b->mode = o->mode;
    b->in_order = o->in_order;
    b->on_answer = o->on_answer;
    b->host = o->host;
    b->launcher.at_once = o->at_once ? o->at_once : FL_AT_ONCE_PER_CPU * cpus();
    b->launcher.deadline = o->deadline_ns ? o->deadline_ns : FORKLESS_NEVER;
    b->launcher.each = o->each_ns;
    int rc = fl_launcher_open(&b->launcher);
    if (rc == 0 && o->mode == FORKLESS_THREAD)
        rc = fl_thread_begin(b);
    if (rc < 0)
        fl_launcher_close(&b->launcher);
    return rc;
}

int forkless_batch_new(forkless_batch **out, const forkless_batch_options *options) {
    static const forkless_batch_options standard;
    if (!out)
        return -EINVAL;
    *out = NULL;
    if (!options)
        options = &standard;
    if (!is_valid(options))
        return -EINVAL;
    struct undisturbed u = begin();
    forkless_batch *b = (forkless_batch *)(void *)fl_map_wiped(sizeof *b, PROT_READ | PROT_WRITE);
    if (!b)
        return end(u, -ENOMEM);
    int rc = open_batch(b, options);
    if (rc < 0)
        munmap(b, sizeof *b);
    else
        *out = b;
    return end(u, rc);
}

/* ---- what is added ---- */

/* Behind the task: the maps, the pointers, the strings of its override. */
static size_t size_of(const forkless_override *o, size_t *arguments) {
    size_t size = 0, n = 0;
    for (; o && o->arguments && o->arguments[n]; n++)
        size += strlen(o->arguments[n]) + 1;
    *arguments = n;
    if (o && o->maps)
        size += o->map_count * sizeof *o->maps;
    return size + (n + 1) * sizeof(char *);
}

static void copy_override(struct fl_task *task, const forkless_override *o, size_t arguments) {
    const char **to = (const char **)(task + 1);
    struct forkless_map *maps = (struct forkless_map *)(to + arguments + 1);
    char *strings = (char *)(maps + (o->maps ? o->map_count : 0));
    task->override = *o;
    task->override.arguments = to;
    if (o->maps)
        task->override.maps = memcpy(maps, o->maps, o->map_count * sizeof *maps);
    for (size_t i = 0; i < arguments; i++) {
        to[i] = strcpy(strings, o->arguments[i]);
        strings += strlen(strings) + 1;
    }
    to[arguments] = NULL;
    task->options.override = &task->override;
}

struct fl_task *fl_batch_task(forkless_batch *b, const forkless_command *command,
                              const forkless_run_options *options) {
    const forkless_override *override = options ? options->override : NULL;
    size_t arguments, more = size_of(override, &arguments);
    struct fl_task *task = calloc(1, sizeof *task + (override ? more : 0));
    if (!task)
        return NULL;
    task->index = b->next_index;
    task->command = (forkless_command *)command;
    fl_command_take(task->command);
    task->options = options ? *options : (forkless_run_options){0};
    task->fd = -1;
    if (override)
        copy_override(task, override, arguments);
    return task;
}

void fl_batch_task_free(struct fl_task *task) {
    fl_arguments_drop(task->arguments);
    fl_command_drop(task->command);
    free(task);
}

static void insert(forkless_batch *b, struct fl_task *task, struct fl_task *older) {
    task->older = older;
    task->younger = older ? older->younger : b->oldest;
    *(older ? &older->younger : &b->oldest) = task;
    *(task->younger ? &task->younger->older : &b->youngest) = task;
    b->count++;
}

static void note_over(forkless_batch *b, struct fl_task *task) {
    task->over = true;
    b->over++;
    if (!b->in_order)
        fl_tasks_add(&b->ready, task);
}

void fl_batch_hand_over(forkless_batch *b, struct fl_task *task) {
    if (b->mode == FORKLESS_THREAD)
        fl_thread_hand_over(b, task);
    else
        fl_launcher_add(&b->launcher, task);
}

void fl_batch_put(forkless_batch *b, struct fl_task *task, struct fl_task *older) {
    insert(b, task, older);
    if (task->answered)
        note_over(b, task);
    else
        fl_batch_hand_over(b, task);
}

int forkless_batch_add(forkless_batch *b, const forkless_command *command,
                       const forkless_run_options *options, void *host) {
    int rc = fl_batch_check(b);
    if (rc < 0)
        return rc;
    if (!command || command->freed)
        return -EINVAL;
    struct undisturbed u = begin();
    struct fl_task *task = fl_batch_task(b, command, options);
    if (!task)
        return end(u, -ENOMEM);
    task->host = host;
    int index;
    if (command->code == 0)
        fl_command_prepare(task->command, &index); /* its answer says what fails */
    b->next_index++;
    fl_batch_put(b, task, b->youngest);
    return end(u, 0);
}

/* ---- what is answered ---- */

/* What is cancelled, or would not be started, keeps its answer. */
static bool may_split(const forkless_batch *b, const struct fl_task *task) {
    return task->splits && !b->freed && task->index >= b->cancelled &&
           fl_left(b->launcher.deadline) > 0 &&
           (task->options.deadline_ns == 0 || fl_left(task->options.deadline_ns) > 0);
}

static void collect(forkless_batch *b) {
    struct fl_tasks over;
    if (b->mode == FORKLESS_THREAD)
        over = fl_thread_take(b);
    else {
        over = b->launcher.over;
        b->launcher.over = (struct fl_tasks){0};
    }
    for (struct fl_task *task; (task = fl_tasks_take(&over));)
        if (!may_split(b, task) || !fl_pack_split(b, task))
            note_over(b, task);
}

static bool has_answer(const forkless_batch *b) {
    return b->in_order ? b->oldest && b->oldest->over : b->ready.first != NULL;
}

/* Of the batch, and all that it has. */
static void end_task(forkless_batch *b, struct fl_task *task) {
    *(task->older ? &task->older->younger : &b->oldest) = task->younger;
    *(task->younger ? &task->younger->older : &b->youngest) = task->older;
    b->count--;
    fl_batch_task_free(task);
}

static void take_answer(forkless_batch *b, forkless_answer *out) {
    struct fl_task *task = b->in_order ? b->oldest : fl_tasks_take(&b->ready);
    *out = (forkless_answer){
        .index = task->index,
        .host = task->host,
        .answered = task->answered,
        .cancelled = task->cancelled,
        .first = task->first,
        .count = task->count,
    };
    if (task->answered == FORKLESS_RAN)
        out->result = task->result;
    else
        out->error = task->error;
    b->over--;
    b->answered++;
    end_task(b, task);
}

static void destroy(forkless_batch *b) {
    if (b->mode == FORKLESS_THREAD)
        fl_thread_end(b);
    b->freed = true;
    collect(b);
    while (b->oldest) {
        struct fl_task *task = b->oldest;
        forkless_child_free(task->child);
        if (task->answered == FORKLESS_RAN)
            forkless_result_free(&task->result);
        end_task(b, task);
    }
    fl_launcher_close(&b->launcher);
    munmap(b, sizeof *b);
}

/* To on_answer. -ECANCELED: it has freed the batch. */
static int deliver(forkless_batch *b) {
    forkless_answer answer;
    b->answering = true;
    while (!b->freed && has_answer(b)) {
        take_answer(b, &answer);
        b->on_answer(b, &answer, b->host);
        forkless_result_free(&answer.result);
    }
    b->answering = false;
    if (!b->freed)
        return 0;
    destroy(b);
    return -ECANCELED;
}

/* ---- poll, next, wait ---- */

/* What can be done without waiting. */
static int turn(forkless_batch *b) {
    if (b->mode == FORKLESS_DIRECT)
        fl_launcher_launch(&b->launcher);
    collect(b);
    return b->on_answer ? deliver(b) : 0;
}

static void look(forkless_batch *b, int64_t ns) {
    struct pollfd news = {.fd = b->thread.news, .events = POLLIN};
    if (b->mode == FORKLESS_DIRECT)
        fl_launcher_look(&b->launcher, b->launcher.over.first ? 0 : ns);
    else
        fl_look(&news, 1, ns);
}

static bool is_over(const forkless_batch *b) {
    return b->over == b->count;
}

/* 0: enough; -ETIMEDOUT, -ECANCELED. */
static int await(forkless_batch *b, int64_t deadline_ns, bool (*enough)(const forkless_batch *)) {
    for (bool looked = false;; looked = true) {
        int rc = turn(b);
        if (rc < 0 || enough(b))
            return rc;
        int64_t ns = fl_left(deadline_ns);
        if (ns == 0 && looked)
            return -ETIMEDOUT;
        look(b, ns);
    }
}

static int poll_batch(forkless_batch *b) {
    if (b->mode == FORKLESS_DIRECT)
        fl_launcher_look(&b->launcher, 0);
    int rc = turn(b);
    if (rc < 0)
        return rc;
    return b->count == 0 ? FORKLESS_ENDED : FORKLESS_RUNNING;
}

int forkless_batch_poll(forkless_batch *b) {
    int rc = fl_batch_check(b);
    if (rc < 0)
        return rc;
    if (b->answering)
        return -EBUSY;
    struct undisturbed u = begin();
    return end(u, poll_batch(b));
}

static bool has_answer_or_none(const forkless_batch *b) {
    return b->count == 0 || has_answer(b);
}

static int next(forkless_batch *b, int64_t deadline_ns, forkless_answer *answer) {
    /* The thread needs nobody to go on. */
    bool at_once = b->mode == FORKLESS_THREAD && has_answer(b);
    int rc = at_once ? 0 : await(b, deadline_ns, has_answer_or_none);
    if (rc < 0)
        return rc;
    if (b->count == 0)
        return -ENODATA;
    take_answer(b, answer);
    return 0;
}

int forkless_batch_next(forkless_batch *b, int64_t deadline_ns, forkless_answer *answer) {
    int rc = fl_batch_check(b);
    if (answer)
        *answer = (forkless_answer){0};
    if (rc < 0)
        return rc;
    if (!answer || b->on_answer)
        return -EINVAL;
    struct undisturbed u = begin();
    return end(u, next(b, deadline_ns, answer));
}

int forkless_batch_wait(forkless_batch *b, int64_t deadline_ns) {
    int rc = fl_batch_check(b);
    if (rc < 0)
        return rc;
    if (b->answering)
        return -EBUSY;
    struct undisturbed u = begin();
    return end(u, await(b, deadline_ns, is_over));
}

int forkless_batch_fd(const forkless_batch *b) {
    int rc = fl_batch_check(b);
    if (rc < 0)
        return rc;
    return b->mode == FORKLESS_THREAD ? b->thread.news : b->launcher.epoll;
}

int64_t forkless_batch_next_deadline(const forkless_batch *b) {
    if (fl_batch_check(b) < 0)
        return FORKLESS_NEVER;
    bool direct = b->mode == FORKLESS_DIRECT;
    if (has_answer(b) || (direct && b->launcher.over.first))
        return 0;
    return direct ? fl_launcher_next(&b->launcher) : FORKLESS_NEVER;
}

/* ---- the rest ---- */

int forkless_batch_cancel(forkless_batch *b) {
    int rc = fl_batch_check(b);
    if (rc < 0)
        return rc;
    struct undisturbed u = begin();
    b->cancelled = b->next_index;
    if (b->mode == FORKLESS_THREAD)
        fl_thread_cancel(b, b->next_index);
    else
        fl_launcher_cancel(&b->launcher, b->next_index);
    return end(u, 0);
}

int forkless_batch_counts(forkless_batch *b, forkless_counts *out) {
    int rc = fl_batch_check(b);
    if (out)
        *out = (forkless_counts){0};
    if (rc < 0 || !out)
        return rc < 0 ? rc : -EINVAL;
    struct undisturbed u = begin();
    collect(b);
    size_t left = b->count - b->over;
    size_t running = atomic_load_explicit(&b->launcher.running_count, memory_order_relaxed);
    out->running = running < left ? running : left;
    out->waiting = left - out->running;
    out->over = b->over;
    out->answered = b->answered;
    out->held_back = atomic_load_explicit(&b->launcher.held_back, memory_order_relaxed);
    return end(u, 0);
}

void forkless_batch_free(forkless_batch *b) {
    if (fl_batch_check(b) < 0)
        return;
    struct undisturbed u = begin();
    if (b->answering)
        b->freed = true;
    else
        destroy(b);
    end(u, 0);
}
