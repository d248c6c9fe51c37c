#include "callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "symbols.h"
#include "unwind.h"

enum { PROGRAMS = 64, MEMOS = 256 };
static const int64_t READ_AGAIN_NS = 100000000; /* what a program has loaded since */

/*
 * A stack that was unwound before: the same program counter and stack pointer, and the same return
 * addresses in the same places. Unwinding it anew takes a hundred times as long.
 */
struct memo {
    struct memo *next;
    const struct trail *trail;
    uint64_t ip, sp;
    int link; /* the register that holds the first return address; -1: none */
    uint64_t linked;
    size_t count;
    struct place {
        uint64_t offset, word;
    } places[];
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
};

struct callers *callers_new(void) {
    return calloc(1, sizeof(struct callers));
}

static void forget(struct program *p) {
    for (struct memo *m = p->memos, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    symbols_free(p->symbols);
    memset(p, 0, sizeof *p);
}

void callers_free(struct callers *s) {
    if (!s)
        return;
    for (size_t i = 0; i < PROGRAMS; i++)
        forget(&s->programs[i]);
    free(s);
}

static int read_again(struct program *p) {
    p->read_at = now_ns();
    return symbols_read(p->symbols);
}

static void read_first(struct program *p, const struct spawn_created *r) {
    p->symbols = symbols_new(r->pid);
    int rc = p->symbols ? read_again(p) : -ENOMEM;
    if (rc == -ENOMEM)
        p->why = "no memory";
    else if (rc == -EACCES || rc == -EPERM)
        p->why = "the program cannot be read: CAP_SYS_PTRACE is missing";
    /* The process of that number may be another one by now, or have executed something else. */
    else if (rc < 0 || !symbols_know(p->symbols, r->registers[REGISTER_IP]))
        p->why = "the program had ended";
    if (!p->why)
        return;
    symbols_free(p->symbols);
    p->symbols = NULL;
}

/* The program that made this creation; the one that was not used for longest makes way. */
static struct program *find_program(struct callers *s, const struct spawn_created *r) {
    struct program *oldest = &s->programs[0];
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct program *p = &s->programs[i];
        if (p->pid == r->pid && p->started == r->started && p->execs == r->execs)
            return p;
        if (p->used_at < oldest->used_at)
            oldest = p;
    }
    forget(oldest);
    oldest->pid = r->pid;
    oldest->started = r->started;
    oldest->execs = r->execs;
    read_first(oldest, r);
    return oldest;
}

static uint64_t word_at(const struct spawn_created *r, uint64_t offset) {
    uint64_t word;
    memcpy(&word, r->stack + offset, sizeof word);
    return word;
}

static const struct trail *recall(const struct program *p, const struct spawn_created *r) {
    for (const struct memo *m = p->memos; m; m = m->next) {
        bool same = m->ip == r->registers[REGISTER_IP] && m->sp == r->registers[REGISTER_SP] &&
                    (m->link < 0 || m->linked == r->registers[m->link]);
        for (size_t i = 0; same && i < m->count; i++)
            same = m->places[i].offset + sizeof(uint64_t) <= r->stack_length &&
                   word_at(r, m->places[i].offset) == m->places[i].word;
        if (same)
            return m->trail;
    }
    return NULL;
}

/* The next place in the stack, from `at` on, where that word stands; or its length. */
static uint64_t find_word(const struct spawn_created *r, uint64_t at, uint64_t word) {
    for (; at + sizeof word <= r->stack_length; at += sizeof word)
        if (word_at(r, at) == word)
            return at;
    return r->stack_length;
}

static int find_register(const struct spawn_created *r, uint64_t word) {
    int i = 0;
    while (i < REGISTER_IP && r->registers[i] != word)
        i++;
    return i < REGISTER_IP ? i : -1;
}

/* Where the return addresses stand: one above the other in the stack, but for the first, which may
 * be in a register. */
static bool find_places(struct memo *m, const struct spawn_created *r, const uint64_t *calls,
                        size_t count) {
    uint64_t from = 0;
    m->link = -1;
    for (size_t i = 1; i < count; i++) {
        uint64_t word = calls[i] + 1, at = find_word(r, from, word);
        if (at < r->stack_length) {
            m->places[m->count++] = (struct place){at, word};
            from = at + sizeof word;
        } else if (i == 1 && (m->link = find_register(r, word)) >= 0) {
            m->linked = word;
        } else {
            return false;
        }
    }
    return true;
}

static void remember(struct program *p, const struct spawn_created *r, const uint64_t *calls,
                     size_t count, const struct trail *trail) {
    struct memo *m =
        p->memo_count < MEMOS ? calloc(1, sizeof *m + count * sizeof *m->places) : NULL;
    if (!m || !find_places(m, r, calls, count)) {
        free(m);
        return;
    }
    m->trail = trail;
    m->ip = r->registers[REGISTER_IP];
    m->sp = r->registers[REGISTER_SP];
    m->next = p->memos;
    p->memos = m;
    p->memo_count++;
}

static bool knows_all(const struct program *p, const uint64_t *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!symbols_know(p->symbols, calls[i]))
            return false;
    return true;
}

static const struct trail *unwind_anew(struct program *p, const struct spawn_created *r) {
    uint64_t calls[TRAIL_MOST];
    const char *names[TRAIL_MOST];
    struct stack stack = {.bytes = r->stack, .size = r->stack_length};
    memcpy(stack.registers, r->registers, sizeof stack.registers);
    size_t count = unwind(p->symbols, &stack, calls, TRAIL_MOST);
    if (!knows_all(p, calls, count) && now_ns() - p->read_at > READ_AGAIN_NS && read_again(p) == 0)
        count = unwind(p->symbols, &stack, calls, TRAIL_MOST);
    for (size_t i = 0; i < count; i++)
        names[i] = symbols_name(p->symbols, calls[i]);
    const struct trail *trail = trail_get(names, count);
    if (trail)
        remember(p, r, calls, count, trail);
    return trail;
}

const struct trail *callers_trail(struct callers *s, const struct spawn_created *r,
                                  const char **why) {
    *why = NULL;
    if (r->compat)
        *why = "a 32-bit program";
    else if (r->ended)
        *why = "the caller had ended";
    else if (r->stack_length == 0)
        *why = "not copied";
    if (*why)
        return NULL;
    struct program *p = find_program(s, r);
    p->used_at = now_ns();
    if (!p->symbols) {
        *why = p->why;
        return NULL;
    }
    const struct trail *trail = recall(p, r);
    if (!trail)
        trail = unwind_anew(p, r);
    if (!trail)
        *why = "no memory";
    return trail;
}
