#include "callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "images.h"
#include "symbols.h"
#include "unwind.h"

enum { PROGRAMS = 64, MEMOS = 256, MOST_WORDS = 1024 };
static const int64_t READ_AGAIN_NS = 100000000; /* what a program has loaded since */

/*
 * A stack that was unwound before: the same program counter and stack pointer, and the same return
 * addresses in the same places. Unwinding it anew takes a hundred times as long. The kernel knows
 * it too, most times.
 */
struct memo {
    struct memo *next;
    const struct trail *trail;
    struct known_key key;
    struct known_stack stack;
};

/* A process since its last exec. */
struct program {
    int32_t pid;
    uint64_t started, execs;
    struct symbols *symbols; /* NULL: nothing could be read, */
    const char *why;         /* because of this */
    int64_t read_at, used_at;
    struct memo *memos;
    size_t memo_count;
};

struct callers {
    struct program programs[PROGRAMS];
    struct probe *probe;
    struct images *images; /* NULL: a program that has ended has no names */
};

struct callers *callers_new(struct probe *probe, bool all) {
    struct callers *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->probe = probe;
    if (all)
        s->images = images_new();
    return s;
}

static void forget(struct probe *probe, struct program *p) {
    for (struct memo *m = p->memos, *next; m; m = next) {
        next = m->next;
        if (m->key.nth < KNOWN_ALIKE)
            probe_forget(probe, &m->key);
        free(m);
    }
    symbols_free(p->symbols);
    memset(p, 0, sizeof *p);
}

void callers_free(struct callers *s) {
    if (!s)
        return;
    for (size_t i = 0; i < PROGRAMS; i++)
        forget(s->probe, &s->programs[i]);
    images_free(s->images);
    free(s);
}

static int read_again(struct program *p) {
    p->read_at = now_ns();
    return symbols_read(p->symbols);
}

/* The process of that number may be another one by now, or have executed something else. */
static void read_first(struct program *p, const struct spawn_created *r,
                       const struct images *images) {
    p->symbols = symbols_new(r->pid);
    int rc = p->symbols ? read_again(p) : -ENOMEM;
    if (p->symbols && !symbols_know(p->symbols, r->registers[REGISTER_IP]))
        images_map(images, r->pid, p->symbols);
    if (p->symbols && symbols_know(p->symbols, r->registers[REGISTER_IP]))
        return;
    if (rc == -ENOMEM)
        p->why = "no memory";
    else if (rc == -EACCES || rc == -EPERM)
        p->why = "the program cannot be read: CAP_SYS_PTRACE is missing";
    else
        p->why = "the program had ended";
    symbols_free(p->symbols);
    p->symbols = NULL;
}

static struct program *find_program(struct callers *s, const struct spawn_created *r) {
    for (struct program *p = s->programs; p < s->programs + PROGRAMS; p++)
        if (p->pid == r->pid && p->started == r->started && p->execs == r->execs) {
            p->used_at = now_ns();
            return p;
        }
    return NULL;
}

/* The one that was not used for longest makes way. */
static struct program *add_program(struct callers *s, const struct spawn_created *r) {
    struct program *oldest = &s->programs[0];
    for (size_t i = 0; i < PROGRAMS; i++)
        if (s->programs[i].used_at < oldest->used_at)
            oldest = &s->programs[i];
    forget(s->probe, oldest);
    oldest->pid = r->pid;
    oldest->started = r->started;
    oldest->execs = r->execs;
    oldest->used_at = now_ns();
    read_first(oldest, r, s->images);
    return oldest;
}

static uint64_t word_at(const struct spawn_created *r, uint64_t offset) {
    uint64_t word;
    memcpy(&word, r->stack + offset, sizeof word);
    return word;
}

static const struct trail *recall(const struct program *p, const struct spawn_created *r) {
    for (const struct memo *m = p->memos; m; m = m->next) {
        const struct known_stack *k = &m->stack;
        bool same = m->key.ip == r->registers[REGISTER_IP] &&
                    m->key.sp == r->registers[REGISTER_SP] &&
                    (k->link < 0 || k->linked == r->registers[k->link]);
        for (size_t i = 0; same && i < k->count; i++)
            same = k->offsets[i] + sizeof(uint64_t) <= r->stack_length &&
                   word_at(r, k->offsets[i]) == k->words[i];
        if (same)
            return m->trail;
    }
    return NULL;
}

/* The first of the words that were read, from that one on, with this value; or how many there are.
 */
static size_t find_word(const struct words *words, size_t from, uint64_t value) {
    while (from < words->used && words->list[from].value != value)
        from++;
    return from;
}

static int find_register(const struct spawn_created *r, uint64_t word) {
    int i = 0;
    while (i < REGISTER_IP && r->registers[i] != word)
        i++;
    return i < REGISTER_IP ? i : -1;
}

/* Where the return addresses stand: where the unwinding read them, but for the first, which may be
 * in a register. The same values elsewhere may be left from earlier calls. */
static bool find_places(struct known_stack *k, const struct spawn_created *r,
                        const struct words *words, const uint64_t *calls, size_t count) {
    size_t from = 0;
    k->link = -1;
    for (size_t i = 1; i < count; i++) {
        uint64_t word = calls[i] + 1;
        size_t read = find_word(words, from, word);
        if (read < words->used) {
            uint64_t at = words->list[read].at;
            k->offsets[k->count] = (uint16_t)at;
            k->words[k->count++] = word;
            if (at + sizeof word <= KNOWN_NEAR && at + sizeof word > k->near)
                k->near = (uint32_t)(at + sizeof word);
            from = read + 1;
        } else if (i == 1 && (k->link = find_register(r, word)) >= 0) {
            k->linked = word;
        } else {
            return false;
        }
    }
    return true;
}

static struct known_key key_of(const struct program *p, const struct spawn_created *r) {
    struct known_key key = {.pid = p->pid, .started = p->started, .execs = p->execs};
    key.ip = r->registers[REGISTER_IP];
    key.sp = r->registers[REGISTER_SP];
    for (const struct memo *m = p->memos; m; m = m->next)
        key.nth += m->key.ip == key.ip && m->key.sp == key.sp;
    return key;
}

static void remember(struct callers *s, struct program *p, const struct spawn_created *r,
                     const struct words *words, const uint64_t *calls, size_t count,
                     const struct trail *trail) {
    struct memo *m = p->memo_count < MEMOS ? calloc(1, sizeof *m) : NULL;
    if (!m || words->used > words->most || !find_places(&m->stack, r, words, calls, count)) {
        free(m);
        return;
    }
    m->trail = trail;
    m->stack.trail = (uintptr_t)trail;
    m->key = key_of(p, r);
    m->next = p->memos;
    p->memos = m;
    p->memo_count++;
    if (m->key.nth < KNOWN_ALIKE)
        probe_know(s->probe, &m->key, &m->stack);
}

static bool knows_all(const struct program *p, const uint64_t *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!symbols_know(p->symbols, calls[i]))
            return false;
    return true;
}

static bool is_call(const struct program *p, uint64_t address) {
    return symbols_know(p->symbols, address - 1);
}

/*
 * Wrappers of clone and vfork say nothing about their frames behind the system call, where their
 * child has another stack. They have no frame of their own: the return address is where the stack
 * pointer points to, or in a register where it is kept from that child.
 */
static bool step_out(const struct program *p, struct stack *stack) {
#if defined(__x86_64__)
    uint64_t *registers = stack->registers, word = 0;
    static const int keepers[] = {5, 1, 12}; /* rdi: glibc, rdx: musl, r12: Go */
    if (stack->size >= sizeof word)
        memcpy(&word, stack->bytes, sizeof word);
    if (word && is_call(p, word)) {
        registers[REGISTER_SP] += sizeof word;
        stack->bytes = (const char *)stack->bytes + sizeof word;
        stack->size -= sizeof word;
        registers[REGISTER_IP] = word - 1;
        return true;
    }
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
        if (is_call(p, registers[keepers[i]])) {
            registers[REGISTER_IP] = registers[keepers[i]] - 1;
            return true;
        }
    return false;
#else
    enum { LINK = 30 };
    if (!is_call(p, stack->registers[LINK]))
        return false;
    stack->registers[REGISTER_IP] = stack->registers[LINK] - 1;
    return true;
#endif
}

/* The same from there on; what is read, that step included, counts from the stack's own pointer. */
static size_t unwind_further(const struct program *p, struct stack *stack, uint64_t sp,
                             uint64_t *calls) {
    struct words *words = stack->words;
    uint64_t up = stack->registers[REGISTER_SP] - sp;
    words->used = 0;
    if (up > 0)
        words->list[words->used++] = (struct word){0, stack->registers[REGISTER_IP] + 1};
    size_t from = words->used, count = unwind(p->symbols, stack, calls, TRAIL_MOST - 1);
    for (size_t i = from; i < words->used && i < words->most; i++)
        words->list[i].at += up;
    return count;
}

static size_t unwind_call(const struct program *p, const struct spawn_created *r, uint64_t *calls,
                          struct words *words) {
    struct stack stack = {.bytes = r->stack, .size = r->stack_length, .words = words};
    memcpy(stack.registers, r->registers, sizeof stack.registers);
    words->used = 0;
    size_t count = unwind(p->symbols, &stack, calls, TRAIL_MOST);
    bool lost = count < 2 || !symbols_know(p->symbols, calls[1]);
    if (lost && step_out(p, &stack))
        count = 1 + unwind_further(p, &stack, r->registers[REGISTER_SP], calls + 1);
    return count;
}

static const struct trail *unwind_anew(struct callers *s, struct program *p,
                                       const struct spawn_created *r) {
    uint64_t calls[TRAIL_MOST];
    const char *names[TRAIL_MOST];
    struct word list[MOST_WORDS];
    struct words words = {.list = list, .most = MOST_WORDS};
    size_t count = unwind_call(p, r, calls, &words);
    if (!knows_all(p, calls, count) && now_ns() - p->read_at > READ_AGAIN_NS && read_again(p) == 0)
        count = unwind_call(p, r, calls, &words);
    for (size_t i = 0; i < count; i++)
        names[i] = symbols_name(p->symbols, calls[i]);
    const struct trail *trail = trail_get(names, count);
    if (trail && count > 1 && knows_all(p, calls, count)) /* else more may be known the next time */
        remember(s, p, r, &words, calls, count, trail);
    return trail;
}

const struct trail *callers_trail(struct callers *s, const struct spawn_created *r,
                                  const char **why) {
    *why = NULL;
    struct program *p = find_program(s, r);
    if (r->trail)
        return (const struct trail *)(uintptr_t)r->trail;
    if (r->compat)
        *why = "a 32-bit program";
    else if (r->ended)
        *why = "the caller had ended";
    else if (r->stack_length == 0)
        *why = "left out: more came than could be read";
    if (*why)
        return NULL;
    images_advance(s->images, r->asked + r->took);
    if (!p)
        p = add_program(s, r);
    if (!p->symbols) {
        *why = p->why;
        return NULL;
    }
    const struct trail *trail = recall(p, r);
    if (!trail)
        trail = unwind_anew(s, p, r);
    if (!trail)
        *why = "no memory";
    return trail;
}

void callers_advance(struct callers *s, uint64_t until) {
    images_advance(s->images, until);
}
