#include "stacks.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 127, MOST_WORDS = 1024 };

/* One unwinding takes 100 us, a comparison one: a stack that was unwound is known again by its
 * symbols, its place, and all that the unwinding read. */
struct known {
    uint64_t version, ip, sp;
    char program[16];
    bool kernel;
    bool by_registers; /* others than these two mattered */
    uint64_t registers[REGISTERS];
    size_t used;
    struct word *list;
    size_t entry; /* of `entries` */
    struct known *next;
};

enum { BUCKETS = 1 << 14, MOST_KNOWN = 1 << 16 };

struct stacks {
    struct known *known[BUCKETS];
    size_t count; /* of those */
    struct stacks_entry *entries;
    size_t used, room;
    void *by_calls; /* a tree of struct place */
    struct word words[2][MOST_WORDS];
};

struct place {
    char *calls; /* the entry's */
    size_t entry;
};

struct stacks *stacks_new(void) {
    return calloc(1, sizeof(struct stacks));
}

void stacks_free(struct stacks *s) {
    if (!s)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct known *k = s->known[i], *next; k; k = next) {
            next = k->next;
            free(k->list);
            free(k);
        }
    tdestroy(s->by_calls, free);
    for (size_t i = 0; i < s->used; i++)
        free(s->entries[i].calls);
    free(s->entries);
    free(s);
}

static struct known **bucket_of(struct stacks *s, uint64_t version, const struct stack *stack) {
    uint64_t key = version * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ stack->registers[REGISTER_IP]) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ stack->registers[REGISTER_SP]) * UINT64_C(0x9e3779b97f4a7c15);
    return &s->known[key >> 32 & (BUCKETS - 1)];
}

static bool is_same(const struct known *k, const struct known *new, const struct stack *stack) {
    if (k->version != new->version || k->ip != new->ip || k->sp != new->sp ||
        k->kernel != new->kernel || strncmp(k->program, new->program, sizeof k->program) != 0)
        return false;
    if (k->by_registers && memcmp(k->registers, stack->registers, sizeof k->registers) != 0)
        return false;
    for (size_t i = 0; i < k->used; i++) {
        const struct word *word = &k->list[i];
        if (word->at + sizeof word->value > stack->size ||
            memcmp((const char *)stack->bytes + word->at, &word->value, sizeof word->value) != 0)
            return false;
    }
    return true;
}

/* ---- what a stack means ---- */

static void write_name(FILE *out, const char *name) {
    putc(';', out);
    for (; *name; name++)
        putc(*name == ';' || *name == '\n' ? ':' : *name, out);
}

static char *describe(const struct known *k, struct symbols *symbols, const uint64_t *addresses,
                      size_t depth) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "%.*s", (int)sizeof k->program, k->program);
    for (size_t i = depth; i-- > 0;)
        write_name(out, symbols_name(symbols, addresses[i]));
    if (depth == 0)
        write_name(out, "[unknown]");
    if (k->kernel)
        write_name(out, "[kernel]");
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int by_calls(const void *left, const void *right) {
    return strcmp(((const struct place *)left)->calls, ((const struct place *)right)->calls);
}

/* Takes the text. */
static bool find_entry(struct stacks *s, char *calls, size_t *entry) {
    struct place key = {.calls = calls}, *const *found = tfind(&key, &s->by_calls, by_calls);
    if (found) {
        free(calls);
        *entry = (*found)->entry;
        return true;
    }
    if (s->used == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct stacks_entry *entries = reallocarray(s->entries, room, sizeof *entries);
        if (!entries)
            goto no_memory;
        s->entries = entries;
        s->room = room;
    }
    struct place *place = malloc(sizeof *place);
    if (!place)
        goto no_memory;
    *place = (struct place){.calls = calls, .entry = s->used};
    if (!tsearch(place, &s->by_calls, by_calls)) {
        free(place);
        goto no_memory;
    }
    *entry = s->used;
    s->entries[s->used++] = (struct stacks_entry){.calls = calls};
    return true;
no_memory:
    free(calls);
    return false;
}

/* ---- unwinding ---- */

/* Whether other registers than the two change what is found: tried, with others in their place. */
static bool depends_on_registers(struct stacks *s, struct symbols *symbols,
                                 const struct stack *stack, const uint64_t *addresses,
                                 size_t depth) {
    uint64_t others[DEEPEST];
    struct words words = {.list = s->words[1], .most = MOST_WORDS};
    struct stack changed = {.bytes = stack->bytes, .size = stack->size, .words = &words};
    changed.registers[REGISTER_IP] = stack->registers[REGISTER_IP];
    changed.registers[REGISTER_SP] = stack->registers[REGISTER_SP];
    if (unwind(symbols, &changed, others, DEEPEST) != depth || words.used != stack->words->used)
        return true;
    return memcmp(others, addresses, depth * sizeof *others) != 0 ||
           memcmp(s->words[0], s->words[1], words.used * sizeof *s->words[0]) != 0;
}

/* Where there is no memory, the next one like it is unwound again. */
static void remember(struct stacks *s, struct known **bucket, const struct known *new,
                     const struct words *words) {
    bool fits = words->used <= words->most && s->count < MOST_KNOWN;
    struct known *k = fits ? malloc(sizeof *k) : NULL;
    if (!k)
        return;
    *k = *new;
    k->used = words->used;
    k->list = malloc(words->used * sizeof *k->list + 1);
    if (!k->list) {
        free(k);
        return;
    }
    memcpy(k->list, words->list, words->used * sizeof *k->list);
    k->next = *bucket;
    *bucket = k;
    s->count++;
}

bool stacks_add(struct stacks *s, const char *program, struct symbols *symbols, struct stack *stack,
                bool kernel) {
    uint64_t addresses[DEEPEST];
    struct known new = {.version = symbols ? symbols_version(symbols) : 0, .kernel = kernel};
    new.ip = stack->registers[REGISTER_IP];
    new.sp = stack->registers[REGISTER_SP];
    memcpy(new.program, program, strnlen(program, sizeof new.program));
    struct known **bucket = bucket_of(s, new.version, stack);
    for (struct known *k = *bucket; k; k = k->next)
        if (is_same(k, &new, stack)) {
            s->entries[k->entry].count++;
            return true;
        }
    struct words words = {.list = s->words[0], .most = MOST_WORDS};
    stack->words = &words;
    size_t depth = symbols && new.ip ? unwind(symbols, stack, addresses, DEEPEST) : 0;
    char *calls = describe(&new, symbols, addresses, depth);
    if (!calls || !find_entry(s, calls, &new.entry))
        return false;
    if (depth > 0 && words.used <= words.most)
        new.by_registers = depends_on_registers(s, symbols, stack, addresses, depth);
    memcpy(new.registers, stack->registers, sizeof new.registers);
    s->entries[new.entry].count++;
    stack->words = NULL;
    remember(s, bucket, &new, &words);
    return true;
}

static int by_count(const void *left, const void *right) {
    const struct stacks_entry *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->calls, b->calls);
}

size_t stacks_list(struct stacks *s, const struct stacks_entry **list) {
    if (s->used > 0)
        qsort(s->entries, s->used, sizeof *s->entries, by_count);
    *list = s->entries;
    return s->used;
}
